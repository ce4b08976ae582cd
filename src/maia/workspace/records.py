"""The records that doors read: what the database gives, under one roof."""

from maia.database.approvals import ApprovalRow, ApprovalStatus
from maia.database.attachments import AttachmentRow
from maia.database.audit import Act
from maia.database.autonomy import DenialRow
from maia.database.cards import Card
from maia.database.compositions import CompositionRow, MemoryDelivery, SectionRow
from maia.database.conversations import ConversationRow, Status
from maia.database.delegations import Above, Child
from maia.database.events import PROGRESS, Logged
from maia.database.folders import FolderRow
from maia.database.history import Entry, EntryKind, Tracked
from maia.database.memories import NoteRow
from maia.database.messages import MessageRow
from maia.database.people import Member, SignIn, Standing
from maia.database.projects import Project, ProjectType, Stage
from maia.database.providers import Kind, ModelRow, ProviderRow
from maia.database.users import ROLES, Role, User
from maia.folders.lists import Folder

__all__ = [
    "PROGRESS",
    "ROLES",
    "Above",
    "Act",
    "ApprovalRow",
    "ApprovalStatus",
    "AttachmentRow",
    "Card",
    "Child",
    "CompositionRow",
    "ConversationRow",
    "DenialRow",
    "Entry",
    "EntryKind",
    "Folder",
    "FolderRow",
    "Kind",
    "Logged",
    "Member",
    "MemoryDelivery",
    "MessageRow",
    "ModelRow",
    "NoteRow",
    "Project",
    "ProjectType",
    "ProviderRow",
    "Role",
    "SectionRow",
    "SignIn",
    "Stage",
    "Standing",
    "Status",
    "Tracked",
    "User",
]
