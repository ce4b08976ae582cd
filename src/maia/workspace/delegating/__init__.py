"""Conversations that hand work to others: specialists, cards that run by themselves, threads beside one."""
