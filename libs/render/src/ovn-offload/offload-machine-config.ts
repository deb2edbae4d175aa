// SPDX-License-Identifier: Apache-2.0
/**
 * ovnOffloadMachineConfig returns the MachineConfig that makes the machines of a pool boot as hosts of a SmartNIC (smartnic.md
 * 2.1, 2.2). Its text depends on nothing but the pool: each change reboots all machines of the pool.
 * Usage: `const config = ovnOffloadMachineConfig({ name: "dpu-host", role: "dpu-host" });`
 */
import { labels } from "@switchyard/api";
import type { Manifest } from "../components/objects/kube-objects.ts";
import { ovnOffloadFiles, ovnOffloadUnits, type OffloadFile, type OffloadUnit } from "./offload-units.ts";
import { ovnOffloadLabels } from "./offload-policy.ts";

/** A MachineConfig with an Ignition configuration of version 3.2, which all releases of OpenShift since 4.7 accept. */
export interface MachineConfigManifest extends Manifest {
  readonly spec: {
    readonly config: {
      readonly ignition: { readonly version: "3.2.0" };
      readonly storage: { readonly files: readonly IgnitionFile[] };
      readonly systemd: { readonly units: readonly OffloadUnit[] };
    };
  };
}

interface IgnitionFile {
  readonly path: string;
  readonly overwrite: true;
  /** JSON has no octal numbers: 0644 is 420. */
  readonly mode: number;
  readonly contents: { readonly source: string };
}

/** The name sorts after those of OpenShift's own MachineConfigs. All its releases merge later names over earlier ones. */
export function ovnOffloadMachineConfigName(pool: string): string {
  return `99-${pool}-ovn-hw-offload`;
}

/** `role` is the value of the role label by which the pool selects its MachineConfigs. */
export function ovnOffloadMachineConfig({
  name: pool,
  role,
}: {
  readonly name: string;
  readonly role: string;
}): MachineConfigManifest {
  return {
    apiVersion: "machineconfiguration.openshift.io/v1",
    kind: "MachineConfig",
    metadata: {
      name: ovnOffloadMachineConfigName(pool),
      labels: {
        ...ovnOffloadLabels(pool),
        [labels.machineConfigRole]: role,
      },
    },
    spec: {
      config: {
        ignition: { version: "3.2.0" },
        storage: { files: ovnOffloadFiles().map(ignitionFile) },
        systemd: { units: ovnOffloadUnits() },
      },
    },
  };
}

function ignitionFile({ path, mode, text }: OffloadFile): IgnitionFile {
  const source = `data:text/plain;charset=utf-8;base64,${Buffer.from(text, "utf8").toString("base64")}`;
  return { path, overwrite: true, mode, contents: { source } };
}
