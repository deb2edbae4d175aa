#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Copies the kernel modules that the lab uses: `sh guest-modules.sh VERSION KERNEL TREE` takes them from KERNEL (see kernel.sh) to
# TREE/usr/lib/modules/VERSION, uncompressed, since unpacking one costs more under emulation than reading it, and indexes them.
set -eu
version=$1 from=$2/lib/modules/$1 tree=$3
to=$tree/usr/lib/modules/$version

mkdir -p "$to/kernel"
cp "$from"/modules.* "$to/"
while read -r path; do
  [ -e "$from/kernel/$path" ] || continue # a few are absent or built in, depending on the point release
  mkdir -p "$to/kernel/$(dirname "$path")"
  cp -r "$from/kernel/$path" "$to/kernel/$(dirname "$path")/"
done <<'LIST'
arch/x86/crypto
crypto
drivers/block/virtio_blk.ko.xz
drivers/char/virtio_console.ko.xz
drivers/dca
drivers/i2c/algos
drivers/infiniband/core
drivers/infiniband/sw
drivers/iommu
drivers/net/bonding
drivers/net/dummy.ko.xz
drivers/net/ethernet/intel/igb
drivers/net/ethernet/intel/igbvf
drivers/net/geneve.ko.xz
drivers/net/ifb.ko.xz
drivers/net/macsec.ko.xz
drivers/net/macvlan.ko.xz
drivers/net/macvtap.ko.xz
drivers/net/net_failover.ko.xz
drivers/net/tap.ko.xz
drivers/net/tun.ko.xz
drivers/net/veth.ko.xz
drivers/net/virtio_net.ko.xz
drivers/net/vrf.ko.xz
drivers/net/vxlan
drivers/pci
drivers/ptp
drivers/vdpa
drivers/vfio
drivers/vhost
drivers/virtio
fs/9p
fs/ext4
fs/jbd2
fs/mbcache.ko.xz
fs/netfs
fs/overlayfs
lib
net
virt
LIST
find "$to" -name '*.ko.xz' -print0 | xargs -0 -P "$(nproc)" -n 64 xz -d
depmod -b "$tree/usr" "$version"
