// SPDX-License-Identifier: Apache-2.0
/**
 * The management port of a host whose OVN runs on the SmartNIC: VF 0 of the card's function 0. ovnkube finds it by its name,
 * which therefore must be the same after each boot and on each kernel (smartnic.md 4). One udev rule, equal on all hosts,
 * gives the name.
 * Usage: `await files.writeText(managementPortRule.path, managementPortRule.text);`
 */
import { smartNicModels, smartNicVendor } from "@switchyard/policy";
import { ownFileHeader, type OffloadFile } from "./offload-file.ts";

/** Name of the management port's interface on each host. No name that the kernel, systemd or ovnkube gives looks like it. */
export const managementPortName = "ovnmgmt0";

/** Name that ovnkube gives to the interface when it uses it. */
const ovnkubeName = "ovn-k8s-mp0";

/**
 * The kernel creates the links virtfn0 and physfn before the VF's interface, so they are there when udev handles its "add".
 * The function of the PF is in its uevent file: the PF is no parent of the VF in sysfs. Other events must not give the name
 * back, because ovnkube renames the interface, and "add" can be triggered by hand while it is renamed. The interface never
 * belongs to NetworkManager, under neither name.
 */
export const managementPortRule: OffloadFile = {
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

function deviceIds(): readonly string[] {
  return Object.keys(smartNicModels)
    .sort()
    .map((id) => `0x${id}`);
}
