"""Translation by Qt's catalogues, and the locale of numbers and dates.

`lupdate` finds the calls by function name, so the texts are literals, and fields are filled after translation.
"""

from functools import lru_cache
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QLibraryInfo, QLocale, QTranslator


def translate(context: str, text: str, comment: str | None = None, n: int = -1) -> str:
    """``text`` in the current language; ``n`` selects the plural form and replaces ``%n``.

    ``comment`` distinguishes equal English texts; it is rarely needed.
    """
    return QCoreApplication.translate(context, text, comment, n)


class Translator:
    """`translate` and `mark` for a module whose texts have one context."""

    def __init__(self, context: str) -> None:
        self._context = context

    def __call__(self, text: str, comment: str | None = None, n: int = -1) -> str:
        return QCoreApplication.translate(self._context, text, comment, n)

    @staticmethod
    def mark(text: str) -> str:
        return text


def mark(context: str, text: str) -> str:  # noqa: ARG001 (lupdate reads the context)
    """Mark a text for translation where it is defined; `translate` it where it is shown."""
    return text


def locale() -> QLocale:
    """The locale of numbers and dates: Qt's default, or US English if that is the C locale.

    Shared: copy it before changing its options.
    """
    return _with_country(QLocale())


@lru_cache(maxsize=4)
def _with_country(default: QLocale) -> QLocale:
    """Cached, since the statistics format fifty numbers per update."""
    if default.language() is QLocale.Language.C:
        return QLocale(QLocale.Language.English, QLocale.Country.UnitedStates)
    return default


SYSTEM = "system"
ENGLISH = "en"
LANGUAGES = (ENGLISH, "de")
_COUNTRIES = {ENGLISH: QLocale.Country.UnitedStates, "de": QLocale.Country.Germany}
_TRANSLATOR_NAME = "paceline-catalogue"


def system_language() -> str:
    """The first system language with a catalogue; else English."""
    wanted = (name.replace("_", "-").split("-")[0].lower() for name in QLocale.system().uiLanguages())
    return next((name for name in wanted if name in LANGUAGES), ENGLISH)


def install_language(application: QCoreApplication, folder: Path, language: str) -> str:
    """Load the catalogues of ``language`` from ``folder``, and Qt's own; returns the language code.

    Texts that are already shown do not change. Without a catalogue texts are English.
    """
    # The language code of "system", "en" or "de"; any other value means the system's language.
    code = system_language() if language == SYSTEM or language not in LANGUAGES else language
    for old in application.findChildren(QTranslator, _TRANSLATOR_NAME):
        application.removeTranslator(old)
        old.deleteLater()
    of_qt = Path(QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath))
    for path in (of_qt / f"qtbase_{code}.qm", folder / f"paceline_{code}.qm"):
        catalogue = QTranslator(application)
        catalogue.setObjectName(_TRANSLATOR_NAME)
        if path.is_file() and catalogue.load(str(path)):
            application.installTranslator(catalogue)
        else:
            catalogue.deleteLater()
    QLocale.setDefault(_locale(code))
    return code


def _locale(code: str) -> QLocale:
    """The system's locale if it has this language, else the language's default."""
    system = QLocale.system()
    if QLocale.languageToCode(system.language()) == code:
        return system
    return QLocale(QLocale.codeToLanguage(code), _COUNTRIES[code])
