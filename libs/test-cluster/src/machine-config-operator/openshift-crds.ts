// SPDX-License-Identifier: Apache-2.0
/**
 * openshiftCrds returns the files with OpenShift's own CRDs of the kinds that ovn-offload reads and writes: MachineConfig,
 * MachineConfigPool, DNS, Network and ClusterVersion. They come from the Go module that OpenShift's client pins.
 * Usage: `for (const file of await openshiftCrds()) await cluster.applyCrds(file);`
 */
import { downloadGoModule } from "@switchyard/testing";
import { join } from "node:path";

const openshiftApi = "github.com/openshift/api@v0.0.0-20251015095338-264e80a2b6e7";
const checksum = "h1:Ot2fbEEPmF3WlPQkyEW/bUCV38GMugH/UmZvxpWceNc=";

const files = [
  "machineconfiguration/v1/zz_generated.crd-manifests/0000_80_machine-config_01_machineconfigs.crd.yaml",
  "machineconfiguration/v1/zz_generated.crd-manifests/0000_80_machine-config_01_machineconfigpools.crd.yaml",
  "operator/v1/zz_generated.crd-manifests/0000_70_dns_00_dnses.crd.yaml",
  "operator/v1/zz_generated.crd-manifests/0000_70_network_01_networks.crd.yaml",
  "config/v1/zz_generated.crd-manifests/0000_00_cluster-version-operator_01_clusterversions-Default.crd.yaml",
];

/** Rejects if Go is missing or the module cannot be downloaded. */
export async function openshiftCrds(): Promise<readonly string[]> {
  const directory = await downloadGoModule(openshiftApi, checksum);
  return files.map((file) => join(directory, file));
}
