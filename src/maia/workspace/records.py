"""The records that doors read: what the database gives, under one roof."""

from maia.database.conversations import ConversationRow, Status
from maia.database.events import Logged
from maia.database.messages import MessageRow
from maia.database.users import User

__all__ = ["ConversationRow", "Logged", "MessageRow", "Status", "User"]
