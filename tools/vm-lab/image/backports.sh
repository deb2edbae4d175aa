#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Prints a configuration file of apt that knows the backports of Debian 13 and nothing else: `APT_CONFIG=$(sh backports.sh DIR)`.
# It is kept in DIR with its package lists, so the sources of this machine do not change.
set -eu
dir=$1
here=$(dirname "$0")

mkdir -p "$dir/lists/partial" "$dir/cache/archives/partial"
printf 'Types: deb\nURIs: %s\nSuites: trixie-backports\nComponents: main\nSigned-By: %s\n' \
  "$(sh "$here/mirror.sh")" /usr/share/keyrings/debian-archive-keyring.gpg >"$dir/backports.sources"
cat >"$dir/apt.conf" <<CONF
Dir::Etc::SourceList "$dir/backports.sources";
Dir::Etc::SourceParts "/dev/null";
Dir::State::Lists "$dir/lists";
Dir::Cache "$dir/cache";
APT::Sandbox::User "root";
CONF
APT_CONFIG=$dir/apt.conf apt-get update -qq >&2
echo "$dir/apt.conf"
