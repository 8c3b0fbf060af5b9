#!/bin/sh
# Fetches Vulkan's headers as Debian 13 has them: those of Debian 12 are too old for llama.cpp. Usage: vulkan_headers.sh FOLDER
# Only headers are taken, out of the package libvulkan-dev, into FOLDER/include; nothing is installed.
set -eu
folder=$1
mkdir -p "$folder"
cd "$folder"
lists=$PWD/apt
mkdir -p "$lists/lists/partial" "$lists/cache/archives/partial"
mirror=$(cat /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null |
    sed -nE 's,^(URIs:|deb( \[[^]]*\])?) *([^ ]+/debian)/?( .*)?$,\3,p' | head -1)
printf 'deb %s trixie main\n' "${mirror:?there is no Debian mirror in /etc/apt}" >"$lists/sources.list"
apt_get() {
    apt-get -qq -o Dir::Etc::SourceList="$lists/sources.list" -o Dir::Etc::SourceParts=- -o Dir::State::Lists="$lists/lists" \
        -o Dir::Cache="$lists/cache" -o APT::Get::List-Cleanup=0 "$@"
}
apt_get update
apt_get download libvulkan-dev
dpkg-deb --extract libvulkan-dev_*.deb unpacked
cp -r unpacked/usr/include .
echo "$PWD/include"
