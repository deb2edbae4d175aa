#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs the Debian packages that parts of the lab need: `sh deps.sh qemu image modules`. Needs root.
set -eu
here=$(dirname "$0")
backports=/etc/apt/sources.list.d/switchyard-vm-lab.sources
export DEBIAN_FRONTEND=noninteractive

# A foreign source that fails is no reason to stop; a package that is then missing is one.
update() {
  apt-get update -qq || echo "apt-get update failed: going on with the lists that are there" >&2
}

install() {
  apt-get install -qq -y --no-install-recommends -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0 "$@"
}

# igb, the one emulated NIC with SR-IOV, came with QEMU 8.0. Debian 12 has 7.2; its backports have 10.0.
install_qemu() {
  . /etc/os-release
  if [ "$VERSION_CODENAME" != bookworm ]; then
    install qemu-system-x86
    return
  fi
  if [ ! -e "$backports" ]; then
    printf 'Types: deb\nURIs: %s\nSuites: bookworm-backports\nComponents: main\nSigned-By: %s\n' \
      "$(sh "$here/mirror.sh")" /usr/share/keyrings/debian-archive-keyring.gpg >"$backports"
    update
  fi
  install -t bookworm-backports qemu-system-x86
}

update
for part in "$@"; do
  case $part in
    qemu) install_qemu ;;
    image) install mmdebstrap busybox-static kmod e2fsprogs xz-utils ;;
    modules) install gcc make patch libc6-dev xz-utils ;;
    *) echo "deps.sh: unknown part $part" >&2; exit 64 ;;
  esac
done
