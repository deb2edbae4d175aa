#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Unpacks Debian's stock kernel: `sh kernel.sh VERSION DEBS TREE` downloads linux-image-VERSION into DEBS, where it stays for the
# next build, and unpacks it as TREE/boot/vmlinuz-VERSION and TREE/lib/modules/VERSION.
set -eu
version=$1 debs=$2 tree=$3

mkdir -p "$debs" "$tree"
cd "$debs"
# _apt, the user that apt downloads as, may have no access to the cache directory.
apt-get download -qq -o APT::Sandbox::User=root "linux-image-$version"
dpkg -x linux-image-"$version"_*.deb "$tree"
[ -e "$tree/lib" ] || ln -s usr/lib "$tree/lib" # where Debian 13 has it
