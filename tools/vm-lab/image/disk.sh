#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Writes a tree into an ext4 image: `sh disk.sh TREE FILE`. mke2fs copies the tree in by itself: no mount, no loop device.
set -eu
tree=$1 file=$2
slack_mb=300 # room for what jobs write; each run begins with the pristine image

used_mb=$(du -sm "$tree" | cut -f1)
truncate -s "$((used_mb * 6 / 5 + slack_mb))M" "$file"
# Every run throws its disk away: no journal, no checksums.
mke2fs -q -t ext4 -O ^has_journal,^metadata_csum,^64bit -E lazy_itable_init=1 -m 0 -L root -d "$tree" "$file"
