#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Prints the version of a kernel that apt offers: `sh kernel-version.sh 6.12` the newest 6.12, such as 6.12.117+deb12-amd64;
# `sh kernel-version.sh backports` the newest of all, with the configuration of apt from apt-config.sh.
# Debian 12 has 6.12 as linux-image-6.12-amd64 (bookworm-security), Debian 13 as linux-image-amd64.
set -eu
case $1 in
  6.12) packages="linux-image-6.12-amd64 linux-image-amd64" pattern='6\.12\..*' ;;
  backports) packages=linux-image-amd64 pattern='[0-9].*' ;;
  *) echo "kernel-version.sh: unknown kernel $1" >&2; exit 64 ;;
esac

for package in $packages; do
  version=$(apt-cache depends "$package" 2>/dev/null | sed -n "s/^ *Depends: linux-image-\($pattern\)\$/\1/p" | head -n 1)
  [ -z "$version" ] || break
done
if [ -z "$version" ]; then
  echo "apt offers no kernel $1: run apt-get update; 6.12 comes with Debian 13, or with bookworm-security of Debian 12" >&2
  exit 1
fi
echo "$version"
