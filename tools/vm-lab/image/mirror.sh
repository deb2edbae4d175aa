#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Prints the address of the Debian archive that this machine's apt uses, whatever the format of its source lists.
# Usage: `mirror=$(sh mirror.sh)`
set -eu

. /etc/os-release
if [ "${ID:-}" != debian ]; then
  echo "the lab is built on Debian 12 or 13; this is ${PRETTY_NAME:-another system}" >&2
  exit 1
fi

# Release files must be there for apt to know origin and code name: on a machine fresh from a container image they are not.
uri=$(apt-get indextargets --format '$(REPO_URI)' \
  'Created-By: Packages' 'Origin: Debian' "Codename: $VERSION_CODENAME" 'Component: main' | head -n 1)
if [ -z "$uri" ]; then
  echo "apt knows no Debian archive for $VERSION_CODENAME: run apt-get update, or look at /etc/apt/sources.list.d" >&2
  exit 1
fi
echo "$uri"
