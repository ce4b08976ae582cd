"""Values, events, errors and protocols that every room shares; standard library only.

Values are frozen. Identity, time and parentage are a storage concern: they belong to the journal's record, never to a
value. Token counts are whole tokens, durations are seconds, money is US dollars, sizes are bytes unless a name says
`chars` (code points).
"""
