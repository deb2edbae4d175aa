#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs the Debian packages that parts of the lab need: `sh deps.sh qemu image modules`. Needs root, changes nothing when
# all is there.
set -eu
here=$(dirname "$0")
export DEBIAN_FRONTEND=noninteractive

install() {
  apt-get install -qq -y --no-install-recommends -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0 "$@"
}

# igb, the one emulated NIC with SR-IOV, came with QEMU 8.0. Debian 12 has 7.2, its backports have 10.0.
install_qemu() {
  if apt-cache policy qemu-system-x86 | grep -q 'Candidate: 1:7\.'; then
    . /etc/os-release
    sources=/etc/apt/sources.list.d/switchyard-vm-lab.sources
    printf 'Types: deb\nURIs: %s\nSuites: %s-backports\nComponents: main\nSigned-By: %s\n' \
      "$(sh "$here/mirror.sh")" "$VERSION_CODENAME" /usr/share/keyrings/debian-archive-keyring.gpg >"$sources"
    apt-get update -qq
    install -t "$VERSION_CODENAME-backports" qemu-system-x86
  else
    install qemu-system-x86
  fi
}

[ -n "$(apt-cache show qemu-system-x86 2>/dev/null)" ] || apt-get update -qq
for part in "$@"; do
  case $part in
    qemu) install_qemu ;;
    image) install mmdebstrap busybox-static kmod e2fsprogs xz-utils ;;
    modules) install gcc make patch libc6-dev xz-utils ;;
    *) echo "deps.sh: unknown part $part" >&2; exit 64 ;;
  esac
done
