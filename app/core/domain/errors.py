"""Every failure of the app's own parts that a person can meet: what happened, why, and what to do.

Each gives a `Problem`; whoever shows it decides where.
"""

from __future__ import annotations

from engine.errors import PacelineError


class AppError(PacelineError):
    """Base of the app's own failures."""


class SettingsWriteError(AppError):
    """The settings could not be saved."""

    title = "The settings could not be saved"
    default_advice = "They apply until Paceline is closed. Check the free space and the folder's permissions."


class PresetError(AppError):
    """A preset could not be kept, renamed or found."""

    title = "The preset was not changed"


class PortTakenError(AppError):
    """Another program listens where the local server was to."""

    title = "The local server could not start"


class PeerError(AppError):
    """Another engine that we measure ourselves against could not be started, or failed."""

    title = "The peer could not be measured"
    default_advice = "Check its path and its configurations, or leave it out."


class ChatsExportError(AppError):
    """Conversations could not be written to a file."""

    title = "The chats could not be exported"
    default_advice = "Choose another location, or free some space."


class StatisticsExportError(AppError):
    """Statistics could not be written to a file."""

    title = "The statistics could not be exported"
    default_advice = "Choose another location, or free some space."


class RaceStoreError(AppError):
    """A race could not be kept, read or deleted."""

    title = "The kept races could not be used"


class RaceExportError(AppError):
    """A race could not be written to a file."""

    title = "The race could not be exported"
    default_advice = "Choose another location, or free some space."


class ChatsImportError(AppError):
    """A file holds no conversations that can be read."""

    title = "The file could not be imported"
    default_advice = "Choose an export of Paceline or LM Studio, the zip that ChatGPT sends, or a chat in Markdown."


class NoChatError(ChatsImportError):
    """A text file in which nobody speaks."""

    default_advice = "Headings such as “## You” and “## Assistant”, or “**You:**” in bold, must say who speaks."


class StorageError(AppError):
    """The chats could not be read or written."""

    title = "The chats could not be saved"
    default_advice = "Check the disk and the folder's permissions; Paceline keeps trying."


class StorageFullError(StorageError):
    """No space is left where the chats live."""

    title = "The disk is full"
    default_advice = "Free some space. Unsaved changes stay in memory and are saved then."


class StorageBusyError(StorageError):
    """Another program holds the file."""

    title = "The chats are in use"
    default_advice = "Close the other Paceline and start this one again."


class StorageReadOnlyError(StorageError):
    """The folder or the file cannot be written."""

    title = "The chats cannot be saved here"
    default_advice = "Allow writing to the folder, or set PACELINE_HOME to another one, and start again."


class DamagedFileError(StorageError):
    """The file is corrupt, or is no chats file."""

    title = "The chats file was damaged"


class NewerFileError(StorageError):
    """A newer Paceline wrote it."""

    title = "The chats are from a newer Paceline"


class BackupError(StorageError):
    """A copy could not be made, or what was copied is not what was there."""

    title = "The chats could not be backed up"
    default_advice = "Check the free space in the folder of the backups."


class MigrationError(StorageError):
    """The file could not be brought to this version's layout."""

    title = "The chats could not be updated to this version"
