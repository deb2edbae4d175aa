#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds the modules that Debian's kernel lacks: `sh build.sh VERSION DEBS DIR` leaves DIR/usr/lib/modules/VERSION/extra/*.ko and,
# beside, a module index of the guest that knows them. Debian has netdevsim and the vDPA simulators switched off; igbsw and lab_tick
# are ours, and igbvfsw is igbvf with a delay. Unsigned modules load, as Debian's kernel enforces signatures under lockdown only.
set -eu
version=$1 debs=$2 to=$3
here=$(cd "$(dirname "$0")" && pwd)
image=$here/../image

work=$(mktemp -d "$to/work.XXXXXX")
trap 'rm -rf "$work"' EXIT

download() {
  cd "$debs"
  apt-get download -qq -o APT::Sandbox::User=root linux-source-6.12 \
    "linux-headers-$version" "linux-headers-${version%-amd64}-common" "linux-kbuild-${version%-amd64}"
}

# The headers are used where they lie, not installed: only an absolute include has to follow.
unpack_headers() {
  for package in linux-headers-"${version%-amd64}"*.deb linux-kbuild-"${version%-amd64}"_*.deb; do
    dpkg -x "$package" "$work/headers"
  done
  headers=$work/headers/usr/src/linux-headers-$version
  sed -i "s#include /usr/src/#include $work/headers/usr/src/#" "$headers/Makefile"
  rm -f "$headers/vmlinux" # without it there is no BTF step, which would need pahole
}

# The package of the sources holds one archive, of which seven directories are needed.
unpack_sources() {
  mkdir "$work/linux"
  dpkg --fsys-tarfile linux-source-6.12_*.deb | tar -xO --wildcards '*/linux-source-6.12.tar.xz' | xz -dc -T0 |
    tar -x --strip-components=1 -C "$work/linux" \
      linux-source-6.12/drivers/net/ethernet/intel/igb linux-source-6.12/drivers/net/ethernet/intel/igbvf linux-source-6.12/drivers/net/netdevsim \
      linux-source-6.12/drivers/ptp linux-source-6.12/drivers/vdpa linux-source-6.12/drivers/vhost
}

# compile NAME SOURCE...: the modules of NAME.Kbuild from copies of the sources.
compile() {
  name=$1
  shift
  mkdir -p "$work/$name"
  cp "$@" "$work/$name/"
  cp "$here/$name.Kbuild" "$work/$name/Kbuild"
  if [ "$name" = igbsw ]; then patch -s "$work/igbsw/igb_main.c" "$here/igb_main.patch"; fi
  if [ "$name" = igbvfsw ]; then patch -s -d "$work/igbvfsw" -p1 <"$here/igbvf_lab.patch"; fi
  make -s -C "$headers" M="$work/$name" -j"$(nproc)" modules
  strip -g "$work/$name"/*.ko
}

index() {
  sh "$image/kernel.sh" "$version" "$debs" "$work/kernel"
  sh "$image/guest-modules.sh" "$version" "$work/kernel" "$work/tree"
  modules=usr/lib/modules/$version
  mkdir -p "$work/tree/$modules/extra" "$to/$modules"
  cp "$work"/*/*.ko "$work/tree/$modules/extra/"
  depmod -b "$work/tree/usr" "$version"
  cp -r "$work/tree/$modules/extra" "$work/tree/$modules"/modules.* "$to/$modules/"
}

mkdir -p "$debs"
download
unpack_headers
unpack_sources
linux=$work/linux/drivers
compile lab_tick "$here/lab_tick.c"
compile igbsw "$linux"/net/ethernet/intel/igb/*.[ch] "$here"/igb_lab*.[ch]
compile igbvfsw "$linux"/net/ethernet/intel/igbvf/*.[ch]
compile netdevsim "$linux"/net/netdevsim/*.[ch] "$linux/ptp/ptp_mock.c"
compile vdpa "$linux"/vdpa/vdpa_sim/*.[ch] "$linux/vdpa/virtio_pci/vp_vdpa.c" "$linux/vhost/vringh.c"
index
