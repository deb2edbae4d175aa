// SPDX-License-Identifier: Apache-2.0
/**
 * The systemd units that configure a node while it boots (SriovOperatorConfig.spec.configurationMode "systemd"). They have
 * upstream's names and order (sriov-operator.md F.11), so they replace upstream's. On OpenShift a MachineConfig contains
 * them; elsewhere the config daemon writes them.
 * Usage: `for (const { name, text } of bootUnits) await files.writeText(join("/etc/systemd/system", name), text);`
 */

/**
 * The systemd units of upstream's systemd mode, which upstream installs on hosts and, on OpenShift, in a MachineConfig
 * (sriov-operator.md F.7, F.11).
 * Names of the units: the first runs before, the second after the network is up.
 */
export const upstreamUnits = ["sriov-config.service", "sriov-config-post-network.service"] as const;

/** The program that both units start. */
export const upstreamUnitProgram = "/var/lib/sriov/sriov-network-config-daemon";

/** A unit with its complete text. */
export interface BootUnit {
  readonly name: string;
  readonly text: string;
}

/** First line of each file of the systemd mode that the daemon writes. It identifies the owner of the file. */
export const bootFileHeader = "# Written by the Switchyard config daemon. Changes are overwritten.";

/** Input of both units: the spec of the node's SriovNetworkNodeState. */
export const bootConfigPath = "/etc/sriov-operator/sriov-interface-config.yaml";

/** Reports whether the daemon wrote the file of the systemd mode. */
export function isOwnBootFile(text: string): boolean {
  return text.startsWith(bootFileHeader);
}

const [beforeNetwork, afterNetwork] = upstreamUnits;
const program = "/var/lib/sriov/switchyard/config-daemon";

/** The services that start the kubelet, by distribution. The second unit must end before they start. */
const kubelets = "kubelet.service k3s.service k3s-agent.service rke2-server.service rke2-agent.service";

/** Time limit of each unit in seconds. The program itself ends earlier and says why. */
const unitLimitSec = 300;

/** Time limit of the program in each unit, in ms. */
export const bootPhaseLimitMs = 240_000;

/** The units as the config daemon writes them. networking.service is that of ifupdown, which has no unit that waits. */
export const bootUnits = unitsWith({
  header: bootFileHeader,
  conditions: [],
  networkServices: ["networking.service"],
});

/**
 * The units for a MachineConfig. OpenShift's first boot installs the operating system and reboots: they do nothing in it. Its
 * hosts have NetworkManager, and each change of a text here reboots them all.
 */
export const machineConfigBootUnits = unitsWith({
  header: "# Written by the Switchyard operator in a MachineConfig.",
  conditions: ["ConditionPathExists=!/etc/ignition-machine-config-encapsulated.json"],
  networkServices: [],
});

interface UnitVariant {
  readonly header: string;
  readonly conditions: readonly string[];
  /** Units after which the network is up, in addition to those that wait for it to be online. */
  readonly networkServices: readonly string[];
}

interface UnitAbout {
  readonly description: string;
  readonly phase: "pre" | "post";
  /** Lines that place the unit in the boot. */
  readonly order: readonly string[];
}

function unitsWith(variant: UnitVariant): readonly BootUnit[] {
  const before = {
    description: "Create SR-IOV virtual functions before the network starts",
    phase: "pre",
    order: [
      "DefaultDependencies=no",
      "Conflicts=shutdown.target",
      "After=local-fs.target network-pre.target systemd-udevd.service systemd-udev-settle.service",
      "After=systemd-modules-load.service systemd-sysusers.service systemd-sysctl.service systemd-tmpfiles-setup.service",
      "Before=network.target NetworkManager.service systemd-networkd.service networking.service",
      "Before=ovsdb-server.service ovs-vswitchd.service shutdown.target",
    ],
  } as const;
  const after = {
    description: "Configure SR-IOV virtual functions before the kubelet starts",
    phase: "post",
    order: [
      [
        "After=systemd-networkd-wait-online.service NetworkManager-wait-online.service",
        ...variant.networkServices,
      ].join(" "),
      `After=openvswitch-switch.service openvswitch.service ovs-vswitchd.service ${beforeNetwork}`,
      `Before=${kubelets}`,
    ],
  } as const;
  return [
    { name: beforeNetwork, text: unitText(before, variant) },
    { name: afterNetwork, text: unitText(after, variant) },
  ];
}

/**
 * No other unit requires them, so a failure delays the start of the kubelet at most by the time limits and never prevents
 * it. A shell starts the program, because SELinux does not let systemd execute files in /var/lib directly.
 */
function unitText({ description, phase, order }: UnitAbout, { header, conditions }: UnitVariant): string {
  return [
    header,
    "[Unit]",
    `Description=${description}`,
    ...order,
    "RequiresMountsFor=/etc/sriov-operator /var/lib/sriov",
    `ConditionPathExists=${bootConfigPath}`,
    `ConditionPathExists=${program}`,
    ...conditions,
    "",
    "[Service]",
    "Type=oneshot",
    `ExecStart=/bin/sh ${program} boot ${phase}`,
    `TimeoutStartSec=${unitLimitSec}`,
    "TimeoutStopSec=10",
    "StandardOutput=journal+console",
    "",
    "[Install]",
    "WantedBy=multi-user.target",
    "",
  ].join("\n");
}

/** Reports whether the unit has one of upstream's names, starts upstream's program, and starts no other program. */
export function isUpstreamUnit(name: string, text: string): boolean {
  const names: readonly string[] = upstreamUnits;
  const started = [...text.matchAll(/^Exec\w+=(.*)$/gm)].map(([, command = ""]) => command.trim().split(/\s+/));
  return (
    names.includes(name) &&
    started.length > 0 &&
    started.every(([program, ...args]) => program === upstreamUnitProgram && args.includes("service"))
  );
}
