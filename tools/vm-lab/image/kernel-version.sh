#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Prints the version of the 6.12 kernel that this machine's apt offers, such as 6.12.117+deb12-amd64.
# Debian 12 has it as linux-image-6.12-amd64 (bookworm-security), Debian 13 as linux-image-amd64.
set -eu

for package in linux-image-6.12-amd64 linux-image-amd64; do
  version=$(apt-cache depends "$package" 2>/dev/null | sed -n 's/^ *Depends: linux-image-\(6\.12\..*\)$/\1/p' | head -n 1)
  [ -z "$version" ] || break
done
if [ -z "$version" ]; then
  echo "apt offers no 6.12 kernel: run apt-get update; it comes with Debian 13, or with bookworm-security of Debian 12" >&2
  exit 1
fi
echo "$version"
