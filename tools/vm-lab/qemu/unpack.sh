#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Unpacks a QEMU with all its libraries, from the C library on, beside whatever this machine has: `sh unpack.sh VERSION DIR` with the
# configuration of apt from image/apt-config.sh, which knows no installed package. DIR/qemu-system-x86_64 starts it. Needs no root.
set -eu
version=$1 to=$2
here=$(dirname "$0")
debs=$to/debs

mkdir -p "$debs/partial"
apt-get install -qq -y --download-only --no-install-recommends -o "Dir::Cache::archives=$debs" -t trixie-backports \
  "qemu-system-x86=$version"
for deb in "$debs"/*.deb; do dpkg-deb -x "$deb" "$to"; done
rm -r "$debs" "$to/usr/share/doc" "$to/usr/share/man" "$to/usr/share/locale"
cp "$here/qemu-system-x86_64" "$to/"
"$to/qemu-system-x86_64" --version
