#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Unpacks Debian's stock kernel: `sh kernel.sh VERSION DEBS TREE` downloads linux-image-VERSION into DEBS, where it stays for the
# next build, and unpacks it as TREE/boot/vmlinuz-VERSION and TREE/lib/modules/VERSION.
set -eu
version=$1 debs=$2 tree=$3

mkdir -p "$debs" "$tree"
cd "$debs"
# Newer kernels consist of several packages.
packages=$(apt-cache depends "linux-image-$version" | sed -n "s/^ *Depends: \(linux-\(base\|binary\|modules\)-$version\)\$/\1/p")
for package in "linux-image-$version" $packages; do
  # _apt, the user that apt downloads as, may have no access to the cache directory.
  apt-get download -qq -o APT::Sandbox::User=root "$package"
  dpkg -x "$package"_*.deb "$tree"
done
[ -e "$tree/lib" ] || ln -s usr/lib "$tree/lib" # where Debian 13 has it
if [ ! -e "$tree/boot" ]; then
  mkdir "$tree/boot"
  ln -s "../lib/modules/$version/vmlinuz" "$tree/boot/vmlinuz-$version" # the package of newer kernels does not know /boot
fi
