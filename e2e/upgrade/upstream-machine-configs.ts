// SPDX-License-Identifier: Apache-2.0
/**
 * MachineConfigs as upstream's operator writes them on OpenShift (sriov-operator.md F.11, G, smartnic.md 2.6, 8),
 * including the empty objects that Go's Ignition types add.
 */
import type { NewObject } from "../src/operator/upstream-cluster.ts";

/** The MachineConfig for a SriovNetworkPoolConfig with ovsHardwareOffloadConfig.name, since release 1.2. */
export function offloadByUpstream(pool: string): NewObject {
  const contents = "[Service]\nExecStartPre=/bin/ovs-vsctl --no-wait set Open_vSwitch . other_config:hw-offload=true\n";
  return machineConfig(`00-${pool}-ovs-hw-offload`, pool, [
    { name: "ovs-vswitchd.service", dropins: [{ name: "10-hw-offload.conf", contents }] },
  ]);
}

/** The MachineConfig of configurationMode systemd. */
export function systemdModeByUpstream(): NewObject {
  return machineConfig(
    "sriov-config-service",
    "worker",
    [
      ["sriov-config.service", "pre"],
      ["sriov-config-post-network.service", "post"],
    ].map(([name, phase]) => ({
      name,
      enabled: true,
      contents: [
        "[Unit]",
        "ConditionPathExists=!/etc/ignition-machine-config-encapsulated.json",
        "",
        "[Service]",
        "Type=oneshot",
        `ExecStart=/var/lib/sriov/sriov-network-config-daemon service --phase ${phase}`,
        "",
        "[Install]",
        "WantedBy=multi-user.target",
        "",
      ].join("\n"),
    })),
  );
}

function machineConfig(name: string, role: string, units: readonly object[]): NewObject {
  const empty = { config: { replace: { verification: {} } }, proxy: {}, security: { tls: {} }, timeouts: {} };
  const config = { ignition: { ...empty, version: "3.2.0" }, passwd: {}, storage: {}, systemd: { units } };
  return {
    metadata: { name, labels: { "machineconfiguration.openshift.io/role": role } },
    spec: { config, osImageURL: "" },
  };
}
