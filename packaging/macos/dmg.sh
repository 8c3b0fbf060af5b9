#!/bin/sh
# Makes the disk image of dist/Paceline.app. Usage: dmg.sh VERSION
# Signs and notarizes where SIGNING_IDENTITY and NOTARY_PROFILE are set; without them, macOS asks before the first start.
set -eu
cd "$(dirname "$0")/../.."
version=$1
app=dist/Paceline.app
identity=${SIGNING_IDENTITY:--} # "-" signs for this machine only, which arm64 demands of any program
codesign --force --deep --options runtime --entitlements packaging/macos/entitlements.plist --sign "$identity" "$app"
folder=$(mktemp -d)
cp -R "$app" "$folder/"
ln -s /Applications "$folder/Applications"
image=dist/paceline-$version-macos-$(uname -m).dmg
hdiutil create -volname Paceline -srcfolder "$folder" -ov -format UDZO "$image"
rm -rf "$folder"
if [ -n "${NOTARY_PROFILE:-}" ]; then
    xcrun notarytool submit "$image" --keychain-profile "$NOTARY_PROFILE" --wait
    xcrun stapler staple "$image"
fi
