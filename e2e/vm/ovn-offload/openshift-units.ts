// SPDX-License-Identifier: Apache-2.0
/**
 * Stand-ins for what OpenShift's base MachineConfigs put on a host (smartnic.md 2.3): with the names and the dependencies of its
 * units, and a script that makes br-ex and the same connections of NetworkManager. And a unit that creates VFs at boot.
 */

/** A file of the guest. */
export interface GuestFile {
  /** Absolute. */
  readonly path: string;
  readonly text: string;
}

const systemd = "/etc/systemd/system";
const uplink = "enp1s0f1np1";

/** NetworkManager ignores connections that others can read. */
export const privateFile = "/etc/NetworkManager/system-connections/uplink.nmconnection";

export const openshiftUnits: readonly GuestFile[] = [
  {
    path: `${systemd}/openvswitch.service`,
    text: `[Unit]
Description=Stand-in for Red Hat's unit of the same name
Requires=ovsdb-server.service ovs-vswitchd.service
After=ovsdb-server.service ovs-vswitchd.service
[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/bin/true
[Install]
WantedBy=multi-user.target
`,
  },
  {
    path: `${systemd}/ovs-configuration.service`,
    text: `[Unit]
Requires=openvswitch.service
Wants=NetworkManager-wait-online.service
After=NetworkManager-wait-online.service openvswitch.service
Before=network-online.target kubelet-dependencies.target
[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/bin/sh /usr/local/bin/configure-ovs
[Install]
RequiredBy=kubelet-dependencies.target
`,
  },
  {
    path: `${systemd}/wait-for-br-ex-up.service`,
    text: `[Unit]
After=ovs-configuration.service
Before=kubelet-dependencies.target
[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/bin/sh -c 'until ip -br link show br-ex; do sleep 1; done'
[Install]
RequiredBy=kubelet-dependencies.target
`,
  },
  { path: `${systemd}/kubelet-dependencies.target`, text: "[Unit]\nDescription=What the kubelet needs\n" },
  {
    path: `${systemd}/kubelet.service`,
    text: `[Unit]
Description=Stand-in that writes down where the node's address is
Requires=kubelet-dependencies.target
Wants=network-online.target
After=kubelet-dependencies.target network-online.target
[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/bin/sh -c "ip -o -4 address show to 192.0.2.7 | awk '{ print $2, $4 }' >/run/kubelet-found"
[Install]
WantedBy=multi-user.target
`,
  },
  {
    path: `${systemd}/create-vfs.service`,
    text: `[Unit]
After=systemd-udev-settle.service
Wants=systemd-udev-settle.service
Before=NetworkManager.service kubelet.service
[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/bin/sh /usr/local/bin/create-vfs 2
[Install]
WantedBy=multi-user.target
`,
  },
  {
    // The VFs have the PF's pretended vendor, which the driver of VFs does not know.
    path: "/usr/local/bin/create-vfs",
    text: `until [ -e /sys/bus/pci/devices/0000:01:00.0/net ] && [ -e /sys/bus/pci/devices/0000:01:00.1/net ]; do sleep 1; done
[ -e /etc/udev/rules.d/70-switchyard-ovn-management-port.rules ] || exit 0
modprobe igbvf
echo '15b3 10ca' >/sys/bus/pci/drivers/igbvf/new_id 2>/dev/null
for port in 0 1; do
  for count in 0 "$1"; do echo "$count" >/sys/bus/pci/devices/0000:01:00.$port/sriov_numvfs; done
done
udevadm settle
`,
  },
  {
    // NetworkManager of Debian cannot activate connections of Open vSwitch, so ovs-vsctl makes the bridge.
    path: "/usr/local/bin/configure-ovs",
    text: `set -e
nmcli --get-values NAME connection show | grep -Fqx ovs-if-br-ex || {
  nmcli connection add type ovs-bridge con-name br-ex connection.interface-name br-ex
  nmcli connection add type ovs-port con-name ovs-port-phys0 connection.interface-name ${uplink} master br-ex
  nmcli connection add type ovs-port con-name ovs-port-br-ex connection.interface-name br-ex master br-ex
  nmcli connection add type ethernet con-name ovs-if-phys0 connection.interface-name ${uplink} \\
    connection.autoconnect-priority 100 master ovs-port-phys0
  nmcli connection add type ovs-interface con-name ovs-if-br-ex connection.interface-name br-ex slave-type ovs-port \\
    master ovs-port-br-ex ipv4.method manual ipv4.addresses 192.0.2.7/24 ipv6.method disabled
}
nmcli device set ${uplink} managed no
ip address flush dev ${uplink}
ovs-vsctl --may-exist add-br br-ex -- --may-exist add-port br-ex ${uplink}
ip link set br-ex up
ip address replace 192.0.2.7/24 dev br-ex
`,
  },
  {
    path: privateFile,
    text: `[connection]
id=uplink
type=ethernet
interface-name=${uplink}
[ipv4]
method=manual
address1=192.0.2.7/24
[ipv6]
method=disabled
`,
  },
  {
    path: "/etc/NetworkManager/conf.d/no-auto-default.conf",
    text: "[main]\nno-auto-default=*\n",
  },
];
