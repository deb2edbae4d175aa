#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes the guest's root tree from Debian packages: `sh rootfs.sh TREE`. Needs root: mmdebstrap unpacks as root and chroots.
# What changes with the lab's own code is not here: it is laid over the tree at each boot (guest/rootfs).
set -eu
tree=$1
here=$(dirname "$0")

# mstconfig lies outside of PATH, because nodes without a Mellanox card have no such program. The package would also install Python.
mstflint='cd "$1/tmp" && APT_CONFIG=$MMDEBSTRAP_APT_CONFIG apt-get download -qq -o APT::Sandbox::User=root mstflint &&
  mkdir "$1/opt/mstflint" && dpkg -x mstflint_*.deb unpacked && rm mstflint_*.deb &&
  mv unpacked/usr/bin/mstconfig "$1/opt/mstflint/" && mv unpacked/usr/share/mstflint "$1/usr/share/" && rm -r unpacked'

# Debian 13 whatever the host is: its Open vSwitch (3.5), systemd and iproute2 are what the tests are written for.
mmdebstrap --quiet --mode=root --variant=minbase --format=directory \
  --aptopt='Acquire::Languages "none"' --aptopt='APT::Install-Recommends "0"' \
  --dpkgopt='path-exclude=/usr/share/man/*' \
  --dpkgopt='path-exclude=/usr/share/doc/*' \
  --dpkgopt='path-exclude=/usr/share/locale/*' \
  --include=systemd,systemd-sysv,udev,dbus,kmod,iproute2,ethtool,pciutils,procps,busybox-static,bpftool \
  --include=openvswitch-switch,network-manager,nftables,crun \
  --include=libexpat1,libibmad5,libmuparser2v5,libsqlite3-0,libssl3t64,libstdc++6 \
  --customize-hook="$mstflint" \
  trixie "$tree" "$(sh "$here/mirror.sh")"

# They wait for what never comes in the lab, or redo at each boot what the pristine disk forgets.
for unit in \
  apt-daily-upgrade.timer apt-daily.timer dpkg-db-backup.timer e2scrub_all.timer e2scrub_reap.service fstrim.timer \
  getty@tty1.service ldconfig.service NetworkManager-wait-online.service serial-getty@ttyS0.service \
  systemd-firstboot.service systemd-hwdb-update.service systemd-journal-catalog-update.service \
  systemd-networkd-wait-online.service systemd-sysusers.service systemd-timesyncd.service wpa_supplicant.service; do
  ln -sf /dev/null "$tree/etc/systemd/system/$unit"
done
