// SPDX-License-Identifier: Apache-2.0
/**
 * The systemd units that configure a node while it boots (SriovOperatorConfig.spec.configurationMode "systemd"). They have
 * upstream's names and order (sriov-operator.md F.11), so they replace upstream's. On OpenShift a MachineConfig contains
 * them; elsewhere the config daemon writes them.
 * Usage: `for (const { name, text } of bootUnits) await files.writeText(`/etc/systemd/system/${name}`, text);`
 */
import { upstreamUnits } from "./upstream-units.ts";

/** A unit with its complete text. */
export interface BootUnit {
  readonly name: string;
  readonly text: string;
}

/** First line of each file of the systemd mode that Switchyard writes. It identifies the owner of the file. */
export const bootFileHeader = "# Written by the Switchyard config daemon. Changes are overwritten.";

/** Input of both units: the spec of the node's SriovNetworkNodeState. */
export const bootConfigPath = "/etc/sriov-operator/sriov-interface-config.yaml";

/** Reports whether Switchyard wrote the file of the systemd mode. */
export function isOwnBootFile(text: string): boolean {
  return text.startsWith(bootFileHeader);
}

const [beforeNetwork, afterNetwork] = upstreamUnits;
const program = "/var/lib/sriov/switchyard/config-daemon";

/** The services that start the kubelet, by distribution. The second unit must end before they start. */
const kubelets = "kubelet.service k3s.service k3s-agent.service rke2-server.service rke2-agent.service";

/**
 * No other unit requires them, so a failure delays the start of the kubelet at most by the time limits and never prevents
 * it. The program is started by a shell because SELinux forbids systemd to execute files in /var/lib directly.
 */
function unitText(about: {
  readonly description: string;
  readonly phase: "pre" | "post";
  readonly order: readonly string[];
}): string {
  return [
    bootFileHeader,
    "[Unit]",
    `Description=${about.description}`,
    ...about.order,
    "RequiresMountsFor=/etc/sriov-operator /var/lib/sriov",
    `ConditionPathExists=${bootConfigPath}`,
    `ConditionPathExists=${program}`,
    // OpenShift's first boot installs the operating system and reboots.
    "ConditionPathExists=!/etc/ignition-machine-config-encapsulated.json",
    "",
    "[Service]",
    "Type=oneshot",
    `ExecStart=/bin/sh ${program} boot ${about.phase}`,
    `TimeoutStartSec=${bootTimeoutSec}`,
    "TimeoutStopSec=10",
    "StandardOutput=journal+console",
    "",
    "[Install]",
    "WantedBy=multi-user.target",
    "",
  ].join("\n");
}

/** Time limit of each unit in seconds. The program itself ends earlier and says why. */
const bootTimeoutSec = 300;

/** Time limit of the program in each unit, in ms. */
export const bootPhaseLimitMs = 240_000;

export const bootUnits: readonly BootUnit[] = [
  {
    name: beforeNetwork,
    text: unitText({
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
    }),
  },
  {
    name: afterNetwork,
    text: unitText({
      description: "Configure SR-IOV virtual functions before the kubelet starts",
      phase: "post",
      order: [
        "After=systemd-networkd-wait-online.service NetworkManager-wait-online.service",
        `After=openvswitch-switch.service openvswitch.service ovs-vswitchd.service ${beforeNetwork}`,
        `Before=${kubelets}`,
      ],
    }),
  },
];
