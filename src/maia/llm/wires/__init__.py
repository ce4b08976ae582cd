"""The wire formats: one file a format for the request's body and the stream's meaning, one driver for all over HTTP."""
