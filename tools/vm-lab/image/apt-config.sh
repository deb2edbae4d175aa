#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Prints a configuration file of apt that knows these suites of Debian and nothing else, and no installed package:
# `APT_CONFIG=$(sh apt-config.sh DIR trixie-backports)`. It is kept in DIR with its package lists, so the sources of this machine
# do not change. Needs no root.
set -eu
dir=$1
here=$(dirname "$0")
shift

mkdir -p "$dir/lists/partial" "$dir/cache/archives/partial"
printf 'Types: deb\nURIs: %s\nSuites: %s\nComponents: main\nSigned-By: %s\n' \
  "$(sh "$here/mirror.sh")" "$*" /usr/share/keyrings/debian-archive-keyring.gpg >"$dir/debian.sources"
: >"$dir/status"
cat >"$dir/apt.conf" <<CONF
Dir::Etc::SourceList "$dir/debian.sources";
Dir::Etc::SourceParts "/dev/null";
Dir::Etc::Preferences "/dev/null";
Dir::Etc::PreferencesParts "/dev/null";
Dir::State "$dir";
Dir::State::Lists "$dir/lists";
Dir::State::Status "$dir/status";
Dir::Cache "$dir/cache";
APT::Sandbox::User "root";
CONF
# Otherwise apt goes on without a list that it cannot download, and the reason is lost.
APT_CONFIG=$dir/apt.conf apt-get update -qq -o APT::Update::Error-Mode=any >&2
echo "$dir/apt.conf"
