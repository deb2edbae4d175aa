// SPDX-License-Identifier: Apache-2.0
/** The networks of the walk, and their NetworkAttachmentDefinitions, which every hand-over must leave as they are. */
import { networkAttachmentDefinitions as nads } from "@switchyard/api";
import { apiVersionOf, isRecord } from "@switchyard/kube";
import { eventually } from "@switchyard/testing";
import { fieldAt } from "../src/api/plain-api.ts";
import type { UpstreamCluster } from "../src/operator/upstream-cluster.ts";
import { upstreamNetworks } from "../upgrade/upstream-networks.ts";

/** Creates the networks as users do, and waits until upstream's operator has made all definitions. */
export async function createNetworks(testCluster: UpstreamCluster): Promise<void> {
  await testCluster.kubectl(["create", "namespace", "tenant"]);
  for (const { type, name, within, spec } of upstreamNetworks) {
    const object = { apiVersion: apiVersionOf(type), kind: type.kind, metadata: { name, namespace: within }, spec };
    await testCluster.kubectl(["apply", "-n", within, "-f", "-"], object);
  }
  await eventually(
    "upstream's operator has made all NetworkAttachmentDefinitions",
    async () => Object.keys(await readNads(testCluster)).length === upstreamNetworks.length,
    { withinMs: 60_000 },
  );
}

/** All definitions: what pods and other programs read of them, by namespace and name. */
export async function readNads(testCluster: UpstreamCluster): Promise<Readonly<Record<string, unknown>>> {
  const text = await testCluster.kubectl(["get", nads.plural, "-A", "-o", "json"]);
  const items = fieldAt(JSON.parse(text) as unknown, "items");
  return Object.fromEntries(
    (Array.isArray(items) ? items : []).filter(isRecord).map((nad) => {
      const metadata = isRecord(nad["metadata"]) ? nad["metadata"] : {};
      const { uid, labels, annotations, ownerReferences } = metadata;
      const name = `${String(metadata["namespace"])}/${String(metadata["name"])}`;
      return [name, { uid, labels, annotations, ownerReferences, spec: nad["spec"] }];
    }),
  );
}
