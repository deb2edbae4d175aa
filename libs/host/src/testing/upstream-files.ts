// SPDX-License-Identifier: Apache-2.0
/**
 * The files that upstream's daemon leaves on a host beside its records, as path and text (sriov-operator.md F.7, F.11). The
 * scripts have the function of upstream's scripts and a different text.
 * Usage: `for (const [path, text] of upstreamRules(pf, "ens1f0")) kernel.writeFile(path, text);`
 */
import type { PciAddress } from "@switchyard/api";

export type FileText = readonly [path: string, text: string];

const net = 'SUBSYSTEM=="net"';

/** Returns the udev rule of a PF in legacy mode, and two more for a PF in switchdev mode. */
export function upstreamRules(
  pf: PciAddress,
  name: string,
  mode: "legacy" | "switchdev" = "legacy",
): readonly FileText[] {
  const rule = (file: string, ...parts: readonly string[]): FileText => {
    return [`/etc/udev/rules.d/${file}-${pf}.rules`, [net, ...parts].join(", ")];
  };
  const disable = `IMPORT{program}="/etc/udev/disable-nm-sriov.sh $env{INTERFACE} ${pf}"`;
  const legacy = rule("10-nm-disable", 'ACTION=="add|change|move"', 'ATTRS{device}=="0x1018|0x10ca"', disable);
  if (mode === "legacy") return [legacy];
  return [
    legacy,
    rule("10-pf-name", 'ACTION=="add"', 'DRIVERS=="?*"', `KERNELS=="${pf}"`, `NAME="${name}"`),
    rule(
      "20-switchdev",
      'ACTION=="add|move"',
      'ATTRS{phys_switch_id}=="7cfe90ff2cc0"',
      'ATTR{phys_port_name}=="pf0vf*"',
      'IMPORT{program}="/etc/udev/switchdev-vf-link-name.sh $attr{phys_port_name}"',
      `NAME="${name}_$env{NUMBER}"`,
    ),
  ];
}

/** Scripts that the rules call. Upstream's daemon writes them at each start. */
export const upstreamHelpers: readonly FileText[] = [
  [
    "/etc/udev/disable-nm-sriov.sh",
    [
      "#!/bin/bash",
      'pf=$(basename "$(readlink "/sys/class/net/$1/device/physfn")")',
      'if [ "$pf" == "$2" ]; then',
      '  echo "NM_UNMANAGED=1"',
      "fi",
      "",
    ].join("\n"),
  ],
  ["/etc/udev/switchdev-vf-link-name.sh", '#!/bin/bash\nPORT="$1"\necho "NUMBER=${PORT##pf*vf}"\n'],
];

/** Files of the systemd mode: the units, and the files that they start and read. On OpenShift, a MachineConfig contains the units. */
export function upstreamSystemdMode({ isOpenshift = false } = {}): readonly FileText[] {
  const program = "/var/lib/sriov/sriov-network-config-daemon";
  const condition = isOpenshift ? "ConditionPathExists=!/etc/ignition-machine-config-encapsulated.json\n" : "";
  const unit = (name: string, phase: string): FileText => [
    `/etc/systemd/system/${name}`,
    `[Unit]\n${condition}Description=Configures NICs\n\n[Service]\nType=oneshot\n` +
      `ExecStart=${program} service --phase ${phase}\n\n[Install]\nWantedBy=multi-user.target\n`,
  ];
  const spec = "spec:\n    interfaces:\n        - pciaddress: 0000:01:00.0\n          numvfs: 7\n";
  return [
    [program, "\u007fELF"],
    ["/etc/sriov-operator/sriov-interface-config.yaml", `${spec}unsupportedNics: false\nplatformType: Baremetal\n`],
    ["/etc/sriov-operator/sriov-interface-result.yaml", 'syncStatus: Succeeded\nlastSyncError: ""\n'],
    ["/etc/sriov-operator/sriov-supported-nics-ids.yaml", "8086 158b 154c\n15b3 1017 1018\n"],
    unit("sriov-config.service", "pre"),
    unit("sriov-config-post-network.service", "post"),
  ];
}

/** Links that enable these units, and their targets. */
export const upstreamUnitLinks: readonly FileText[] = ["sriov-config.service", "sriov-config-post-network.service"].map(
  (name) => [`/etc/systemd/system/multi-user.target.wants/${name}`, `/etc/systemd/system/${name}`],
);
