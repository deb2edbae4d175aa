#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Prints the newest version of QEMU in the backports of Debian 13, such as 1:11.1.3+ds-1~bpo13+1, with the configuration of apt from
# image/apt-config.sh: `APT_CONFIG=… sh version.sh`.
set -eu
version=$(apt-cache madison qemu-system-x86 | sed -n 's/^[^|]*| *\([^ ]*\) *|.* trixie-backports\/.*/\1/p' | head -n 1)
if [ -z "$version" ]; then
  echo "apt offers no qemu-system-x86 in trixie-backports" >&2
  exit 1
fi
echo "$version"
