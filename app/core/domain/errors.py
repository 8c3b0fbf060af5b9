"""The failures of the app's own parts: what happened, why, and what to do.

Each error has a `Problem`; the caller decides where to show it.
"""

from engine.errors import PacelineError


class AppError(PacelineError): ...


class SettingsWriteError(AppError):
    title = "The settings could not be saved"
    default_advice = "They apply until Paceline is closed. Check the free space and the folder's permissions."


class PresetError(AppError):
    title = "The preset was not changed"


class PortTakenError(AppError):
    title = "The local server could not start"


class PeerError(AppError):
    """Another engine in a benchmark, such as llama-server, could not be started, or failed."""

    title = "The other program could not be measured"
    default_advice = "Check its path, or leave it out."


class ChatsExportError(AppError):
    title = "The chats could not be exported"
    default_advice = "Choose another location, or free some space."


class RaceExportError(AppError):
    title = "The race could not be exported"
    default_advice = "Choose another location, or free some space."


class ChatsImportError(AppError):
    title = "The file could not be imported"
    default_advice = "Choose an export of Paceline or LM Studio, or the zip that ChatGPT sends."


class StorageError(AppError):
    title = "The chats could not be saved"
    default_advice = "Check the disk and the folder's permissions; Paceline keeps trying."


class StorageFullError(StorageError):
    title = "The disk is full"
    default_advice = "Free some space. Unsaved changes stay in memory and are saved then."


class StorageBusyError(StorageError):
    title = "The chats are in use"
    default_advice = "Close the other Paceline and start this one again."


class StorageReadOnlyError(StorageError):
    title = "The chats cannot be saved here"
    default_advice = "Allow writing to the folder, or set PACELINE_HOME to another one, and start again."


class DamagedFileError(StorageError):
    title = "The chats file was damaged"


class NewerFileError(StorageError):
    title = "The chats are from a newer Paceline"


class BackupError(StorageError):
    title = "The chats could not be backed up"
    default_advice = "Check the free space in the folder of the backups."
