// SPDX-License-Identifier: Apache-2.0
/**
 * What the host of a SmartNIC boots with: Open vSwitch disabled, br-ex given back to NetworkManager, and a permanent name for
 * the management port (smartnic.md 2.3, 2.4, 4).
 *
 * Units of others get a condition that is never met. A skipped unit counts as a success for the units that require it, so
 * kubelet-dependencies.target, which requires ovs-configuration, is reached. Masking or disabling would fail there, and would
 * outlive the MachineConfig. Drop-ins disappear with it.
 *
 * The units that create VFs at boot (machineConfigBootUnits of libs/api) are no part of this. They are ordered before the kubelet
 * and wanted, not required, by multi-user.target, as OVN offload needs it. SriovOperatorConfig.spec.configurationMode
 * installs them for all nodes, and only the config daemon in systemd mode gives them their program. Offload does not
 * switch the mode: in daemon mode, ovnkube starts again until the daemon has created VF 0. Both run in the network of
 * the host.
 * Usage: `const units = ovnOffloadUnits().filter(({ contents }) => contents !== undefined);`
 */
import { smartNicModels, smartNicVendor } from "@switchyard/policy";

/** First line of each file, drop-in and unit, except that a script has it as its second line. It identifies the owner. */
const ownFileHeader = "# Written by Switchyard for OVN on the SmartNIC. Changes are overwritten.";

/**
 * Files of the OVN offload on a host. A MachineConfig contains them, or the config daemon writes them.
 * A file on a host.
 */
export interface OffloadFile {
  /** Absolute. */
  readonly path: string;
  /** Permissions: 0o644, or 0o755 for scripts. */
  readonly mode: number;
  readonly text: string;
}

/** A systemd unit, or drop-ins of a unit that belongs to others. */
export interface OffloadUnit {
  readonly name: string;
  /** True for own units, which have an [Install] section. Absent for units of others. */
  readonly enabled?: true;
  /** Complete text of an own unit. */
  readonly contents?: string;
  readonly dropins?: readonly OffloadDropIn[];
}

/** A file NAME in /etc/systemd/system/UNIT.d. */
export interface OffloadDropIn {
  readonly name: string;
  readonly contents: string;
}

/**
 * The management port of a host whose OVN runs on the SmartNIC: VF 0 of the card's function 0. ovnkube finds it by its name,
 * which therefore must be the same after each boot and on each kernel (smartnic.md 4). One udev rule, equal on all hosts,
 * gives the name.
 * Name of the management port's interface on each host. No name that the kernel, systemd or ovnkube gives looks like it.
 */
export const managementPortName = "ovnmgmt0";

/** Name that ovnkube gives to the interface when it uses it. */
const ovnkubeName = "ovn-k8s-mp0";

/**
 * The kernel creates the links virtfn0 and physfn before the VF's interface, so they are there when udev handles its "add".
 * The function of the PF is in its uevent file: the PF is no parent of the VF in sysfs. Other events must not give the name
 * back, because ovnkube renames the interface, and "add" can be triggered by hand while it is renamed. The interface never
 * belongs to NetworkManager, under neither name.
 */
const managementPortRule: OffloadFile = {
  path: "/etc/udev/rules.d/70-switchyard-ovn-management-port.rules",
  mode: 0o644,
  text: [
    ownFileHeader,
    "# VF 0 of function 0 of a BlueField: the management port of OVN-Kubernetes.",
    'SUBSYSTEM!="net", GOTO="switchyard_ovn_end"',
    'ACTION=="remove", GOTO="switchyard_ovn_end"',
    'TEST!="device/physfn/virtfn0/net/%k", GOTO="switchyard_ovn_end"',
    `ATTR{device/physfn/vendor}!="0x${smartNicVendor}", GOTO="switchyard_ovn_end"`,
    `ATTR{device/physfn/device}!="${deviceIds().join("|")}", GOTO="switchyard_ovn_end"`,
    'ATTR{device/physfn/uevent}!="*PCI_SLOT_NAME=????:??:??.0*|*PCI_SLOT_NAME=?????:??:??.0*", GOTO="switchyard_ovn_end"',
    'ENV{NM_UNMANAGED}="1"',
    `ACTION=="add", KERNEL!="${ovnkubeName}", NAME="${managementPortName}"`,
    'LABEL="switchyard_ovn_end"',
    "",
  ].join("\n"),
};

/** Name of the drop-ins. It sorts after those of the distribution. */
export const ovnOffloadDropIn = "90-switchyard-ovn-offload.conf";

/** Name of the unit that gives br-ex back to NetworkManager. */
export const bridgeRemovalUnit = "switchyard-remove-br-ex.service";

/**
 * Red Hat's names, then Debian's. Those that a distribution lacks get a drop-in without effect. The last three would run
 * ovs-vsctl and fail without Open vSwitch.
 */
const skippedUnits = [
  "openvswitch.service",
  "openvswitch-switch.service",
  "ovsdb-server.service",
  "ovs-vswitchd.service",
  "ovs-configuration.service",
  "wait-for-br-ex-up.service",
  "ovs-delete-transient-ports.service",
  "ovs-record-hostname.service",
  "openvswitch-ipsec.service",
] as const;

const skip = [ownFileHeader, "[Unit]", "ConditionPathExists=/enoent", ""].join("\n");

const removalScript = "/usr/local/bin/switchyard-remove-br-ex";

/** The units, ordered by name. The content never depends on the host. */
export function ovnOffloadUnits(): readonly OffloadUnit[] {
  const dropins = [{ name: ovnOffloadDropIn, contents: skip }];
  const units: OffloadUnit[] = skippedUnits.map((name) => ({ name, dropins }));
  units.push({ name: bridgeRemovalUnit, enabled: true, contents: removalUnitText() });
  return units.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** The files, ordered by path. The content never depends on the host. */
export function ovnOffloadFiles(): readonly OffloadFile[] {
  return [managementPortRule, { path: removalScript, mode: 0o755, text: removalScriptText() }];
}

/**
 * It runs between the start of NetworkManager and the end of waiting for the network, so the kubelet starts when the physical
 * interface has its address. Its failure or its time limit delays the kubelet, and never prevents its start.
 */
function removalUnitText(): string {
  return [
    ownFileHeader,
    "[Unit]",
    "Description=Give br-ex back to NetworkManager, because OVN runs on the SmartNIC",
    "After=NetworkManager.service",
    "Before=NetworkManager-wait-online.service network-online.target node-valid-hostname.service nodeip-configuration.service",
    "Before=crio.service containerd.service",
    "Before=kubelet.service k3s.service k3s-agent.service rke2-server.service rke2-agent.service",
    `ConditionPathExists=${removalScript}`,
    "",
    "[Service]",
    "Type=oneshot",
    "RemainAfterExit=yes",
    `ExecStart=/bin/sh ${removalScript}`,
    "TimeoutStartSec=120",
    "",
    "[Install]",
    "WantedBy=multi-user.target",
    "",
  ].join("\n");
}

/**
 * configure-ovs.sh of OpenShift made these connections, and makes them again at the first boot with Open vSwitch. It has two
 * bridges, br-ex and br-ex1, and clones the connections of a bond's ports with the suffix -slave-ovs-clone. A br-ex without
 * ovs-if-br-ex and ovs-if-phys0 is the administrator's, and stays; so one of these two goes last. The same holds for br-ex1. The
 * interface itself takes its own connection when the one that enslaves it is gone.
 */
function removalScriptText(): string {
  return `#!/bin/sh
${ownFileHeader}
# Deletes the connections of NetworkManager that put the physical interface into br-ex. Does nothing if there are none.
command -v nmcli >/dev/null || exit 0
[ "$(nmcli --get-values RUNNING general)" = running ] || exit 0
names=$(nmcli --escape no --get-values NAME connection show) || exit 1

failed=0
has() { printf '%s\\n' "$names" | grep -Fqx -e "$1"; }
delete() { if has "$1"; then nmcli connection delete id "$1" || failed=1; fi; }

# remove BRIDGE INTERFACE
remove() {
  for name in "ovs-if-$2" "ovs-port-$2" "ovs-port-$1" "$1" "ovs-if-$1"; do delete "$name"; done
}

if has ovs-if-br-ex || has ovs-if-phys0 || has ovs-if-br-ex1 || has ovs-if-phys1; then
  set -f
  IFS='
'
  for name in $(printf '%s\\n' "$names" | grep -e '-slave-ovs-clone$'); do delete "$name"; done
  unset IFS
fi
if has ovs-if-br-ex1 || has ovs-if-phys1; then remove br-ex1 phys1; fi
if has ovs-if-br-ex || has ovs-if-phys0; then remove br-ex phys0; fi
exit $failed
`;
}

function deviceIds(): readonly string[] {
  return Object.keys(smartNicModels)
    .sort()
    .map((id) => `0x${id}`);
}

/** Reports whether Switchyard wrote a file, drop-in or unit of the OVN offload. */
export function isOwnOffloadFile(text: string): boolean {
  return text.split("\n", 2).includes(ownFileHeader);
}
