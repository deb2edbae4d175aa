// SPDX-License-Identifier: Apache-2.0
/** Networks whose resource no policy defines, or whose NetworkAttachmentDefinition is missing. */
import { annotations } from "@switchyard/api";
import { nearestName } from "@switchyard/policy";
import { targetNamespace, type Network } from "@switchyard/render";
import { listAt, stringsAt } from "../../json.ts";
import { findingOf, type Finding } from "../finding.ts";
import type { Snapshot } from "../snapshot.ts";

export function findNetworks(snapshot: Snapshot): readonly Finding[] {
  const { cluster } = snapshot;
  const resources = new Set(cluster.policies.map(({ spec }) => spec.resourceName));
  return cluster.networks.flatMap((network): readonly Finding[] => {
    const object = { kind: network.kind, ...nameOf(network) };
    const values = { operatorNamespace: snapshot.namespace };
    const resourceName = network.kind === "AfxdpNetwork" ? "" : network.spec.resourceName;
    const findings: Finding[] = [];
    if (resourceName && snapshot.isKnown("SriovNetworkNodePolicy") && !resources.has(resourceName)) {
      const like = nearestName(resourceName, resources);
      findings.push(
        findingOf("NetworkResourceUnknown", {
          object,
          field: "spec.resourceName",
          values,
          message: `no policy defines the resource "${resourceName}"`,
          evidence: like === undefined ? [] : [`nearest match: "${like}"`],
        }),
      );
    }
    const hasConditions = listAt(network, "status", "conditions").length > 0;
    if (!hasConditions && snapshot.isKnown("NetworkAttachmentDefinition") && !hasDefinition(network, snapshot)) {
      const namespace = targetNamespace(network);
      const message = `namespace "${namespace}" has no NetworkAttachmentDefinition "${network.metadata.name}" of this network`;
      findings.push(findingOf("NetworkDefinitionMissing", { object, message, values }));
    }
    return findings;
  });
}

/** One of the same name that has no owner annotation may be of an older operator. */
function hasDefinition(network: Network, snapshot: Snapshot): boolean {
  const { name, namespace } = nameOf(network);
  return snapshot.objectsOf("NetworkAttachmentDefinition").some((definition) => {
    if (definition.name !== name || definition.namespace !== targetNamespace(network)) return false;
    const owner = stringsAt(definition.object, "metadata", "annotations")[annotations.ownerRef];
    return owner === undefined || owner.endsWith(`/${namespace ?? ""}/${name}`);
  });
}

function nameOf({ metadata: { name, namespace } }: Network): { name: string; namespace?: string } {
  return namespace === undefined ? { name } : { name, namespace };
}
