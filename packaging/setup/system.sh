# shellcheck shell=sh
# Sourced by setup.sh. Finds Python and the system libraries; installs what is missing with apt where that is possible,
# elsewhere says in one sentence what is needed. `system_check NEED...` sets PYTHON_FOUND or ends the script.
# SKIP_SYSTEM_CHECK=1 trusts the machine.

say() { printf '%s\n' "$*"; }
fail() { printf '%s\n' "$*" >&2; exit 1; }

# One line for each library: its name as the loader knows it, and the package of Debian and Ubuntu that brings it.
# Newer releases that renamed a package (libglib2.0-0t64) still answer to these names.
LIBRARIES_BASE='libglib-2.0.so.0 libglib2.0-0
libGL.so.1 libgl1
libEGL.so.1 libegl1
libdbus-1.so.3 libdbus-1-3
libfontconfig.so.1 libfontconfig1
libxkbcommon.so.0 libxkbcommon0
libgomp.so.1 libgomp1'
LIBRARIES_WINDOW='libxcb-cursor.so.0 libxcb-cursor0
libxcb-icccm.so.4 libxcb-icccm4
libxcb-keysyms.so.1 libxcb-keysyms1
libxcb-shape.so.0 libxcb-shape0
libxkbcommon-x11.so.0 libxkbcommon-x11-0'
LIBRARIES_WAYLAND='libwayland-cursor.so.0 libwayland-cursor0'

# Whether a window can open: a screen is there, or a Qt platform that needs none was asked for. As in app/core/display.py.
has_display() {
    case "${QT_QPA_PLATFORM:-}" in offscreen* | minimal* | vnc* | linuxfb* | eglfs*) return 0 ;; esac
    [ -n "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ] || [ "$(uname)" = Darwin ]
}

wanted_libraries() {
    say "$LIBRARIES_BASE"
    case " $* " in
    *" screenshots "*) say "$LIBRARIES_WINDOW" ;;
    *" run "*) if has_display; then say "$LIBRARIES_WINDOW"; fi ;;
    esac
    case " $* " in *" run "*) if [ -n "${WAYLAND_DISPLAY:-}" ]; then say "$LIBRARIES_WAYLAND"; fi ;; esac
}

# Sets MISSING_FILES and MISSING_PACKAGES.
look_for_libraries() {
    MISSING_FILES='' MISSING_PACKAGES=''
    loader_cache=$(PATH="$PATH:/sbin:/usr/sbin" ldconfig -p 2>/dev/null) || loader_cache=''
    if [ -n "$loader_cache" ]; then
        while read -r file package; do
            case "$loader_cache" in *"$file "*) ;; *) add_missing "$file" "$package" ;; esac
        done <<LIST
$(wanted_libraries "$@")
LIST
    fi
    command -v cc >/dev/null || command -v gcc >/dev/null || add_missing 'a C compiler' gcc
    command -v c++ >/dev/null || command -v g++ >/dev/null || add_missing 'a C++ compiler' g++
}

add_missing() {
    MISSING_FILES="${MISSING_FILES:+$MISSING_FILES, }$1"
    MISSING_PACKAGES="${MISSING_PACKAGES:+$MISSING_PACKAGES }$2"
}

is_new_enough() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; }

# Sets PYTHON_FOUND to the first interpreter of 3.11 or newer; a PYTHON that somebody chose is the only candidate.
find_python() {
    PYTHON_FOUND=''
    candidates="${PYTHON:-python3}"
    if [ "$candidates" = python3 ]; then
        candidates='python3 python3.14 python3.13 python3.12 python3.11'
    fi
    for candidate in $candidates; do
        if is_new_enough "$candidate"; then PYTHON_FOUND=$candidate; return 0; fi
    done
    return 1
}

look_for_python() {
    if ! find_python; then
        if [ "${PYTHON:-python3}" = python3 ] && ! command -v python3 >/dev/null; then
            add_missing 'Python 3.11 or newer' 'python3 python3-venv'
        else
            found=$("${PYTHON:-python3}" -V 2>&1) || found="${PYTHON:-python3} does not start"
            fail "Paceline needs Python 3.11 or newer ($found): install one and name it, as in: make run PYTHON=python3.12"
        fi
    elif ! "$PYTHON_FOUND" -c 'import ensurepip, venv' >/dev/null 2>&1; then
        version=$("$PYTHON_FOUND" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
        add_missing "Python's venv module" "python$version-venv"
    fi
}

apt_install() {
    say "Installing with apt: $*"
    export DEBIAN_FRONTEND=noninteractive
    apt-get -qq update </dev/null || say 'apt-get update did not finish; trying with the package lists that are here.'
    apt-get -qq -o DPkg::Lock::Timeout=120 -o Dpkg::Use-Pty=0 install -y --no-install-recommends "$@" </dev/null >/dev/null
}

check_linux() {
    look_for_libraries "$@"
    look_for_python
    [ -n "$MISSING_PACKAGES" ] || return 0
    if ! command -v apt-get >/dev/null; then
        fail "Paceline needs $MISSING_FILES: install them with your system's package manager, then try again."
    elif [ "$(id -u)" != 0 ]; then
        say "Paceline needs $MISSING_FILES. One line installs them:" >&2
        fail "  sudo apt-get install -y --no-install-recommends $MISSING_PACKAGES"
    fi
    # The list is meant to be split into words.
    # shellcheck disable=SC2086
    apt_install $MISSING_PACKAGES || fail "apt could not install $MISSING_PACKAGES; its message is above."
    look_for_libraries "$@"
    [ -z "$MISSING_FILES" ] || fail "Still missing after apt: $MISSING_FILES."
    find_python || fail "This system's python3 is older than 3.11: install a newer one and name it, as in: make run PYTHON=python3.12"
}

check_macos() {
    xcode-select -p >/dev/null 2>&1 || fail 'Paceline needs the command line developer tools: xcode-select --install'
    find_python || fail 'Paceline needs Python 3.11 or newer: install one and name it, as in: make run PYTHON=python3.12'
}

system_check() {
    if [ "${SKIP_SYSTEM_CHECK:-}" = 1 ]; then
        find_python || fail 'Paceline needs Python 3.11 or newer.'
    elif [ "$(uname)" = Darwin ]; then
        check_macos
    else
        check_linux "$@"
    fi
}
