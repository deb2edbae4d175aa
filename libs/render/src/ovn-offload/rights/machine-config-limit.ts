// SPDX-License-Identifier: Apache-2.0
/**
 * A MachineConfig is root on the machines of a pool. Therefore ovn-offload may only write its own: under its own name,
 * for a pool other than master and worker, and with exactly the content of its release.
 */
import { labels } from "@switchyard/api";
import { celLiteral } from "../../components/rights/policy-for-users.ts";
import { ovnOffloadMachineConfig, ovnOffloadMachineConfigName } from "../offload-machine-config.ts";
import { metadataLimit, ownVariable, poolVariable, targetVariable, type OffloadLimit } from "./offload-limit.ts";

/** What fields of the spec contain that an API server fills in. */
const empty = celLiteral([null, "", false, [], {}]);

export function machineConfigLimit(): OffloadLimit {
  const { spec, metadata } = ovnOffloadMachineConfig({ name: "any", role: "any" });
  const [prefix = "", suffix = ""] = ovnOffloadMachineConfigName("|").split("|");
  return {
    name: "machine-configs",
    rule: {
      apiGroups: ["machineconfiguration.openshift.io"],
      apiVersions: ["v1"],
      resources: ["machineconfigs"],
      scope: "Cluster",
      operations: ["CREATE", "UPDATE", "DELETE"],
    },
    variables: [
      ...[targetVariable, poolVariable, ownVariable],
      { name: "role", expression: `object.metadata.?labels[?${celLiteral(labels.machineConfigRole)}].orValue("")` },
    ],
    validations: [
      {
        expression:
          `variables.isOwn && variables.pool != "" && ` +
          `variables.target.metadata.?name.orValue("") == ${celLiteral(prefix)} + variables.pool + ${celLiteral(suffix)}`,
        message: `"write MachineConfigs ${prefix}POOL${suffix} that have its labels and ${labels.ovnOffloadPool}=POOL"`,
      },
      {
        expression:
          'request.operation == "DELETE" || (!(variables.role in ["", "master", "worker"]) && ' +
          `object.metadata.labels.all(key, key in ${celLiteral(Object.keys(metadata.labels ?? {}))}))`,
        message: `"write MachineConfigs for pools other than master and worker, and with no other labels than its own"`,
      },
      {
        expression:
          `request.operation == "DELETE" || (object.spec.?config.orValue({}) == ${celLiteral(spec.config)} && ` +
          `dyn(object.spec).all(key, key == "config" || dyn(object.spec)[key] in ${empty}))`,
        message: `"write MachineConfigs with the content that this release of Switchyard has"`,
      },
      metadataLimit("MachineConfigs"),
    ],
  };
}
