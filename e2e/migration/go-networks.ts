// SPDX-License-Identifier: Apache-2.0
/**
 * The networks of the walk, and their NetworkAttachmentDefinitions, which every hand-over must leave as they are. Some of them violate
 * rules of Switchyard's CRDs, which upstream's lack, and one definition is in a namespace that is being deleted.
 */
import { networkAttachmentDefinitions as nads, sriovNetworks } from "@switchyard/api";
import { apiVersionOf, isRecord } from "@switchyard/kube";
import { namespace } from "@switchyard/test-cluster";
import { eventually } from "@switchyard/testing";
import { fieldAt } from "../src/api/plain-api.ts";
import type { UpstreamCluster } from "../src/operator/upstream-cluster.ts";
import { upstreamNetworks } from "../upgrade/upstream-networks.ts";

/** Stored networks that the rules of Switchyard's CRDs refuse, and one whose namespace is being deleted. */
const oddNetworks = [
  { name: "qos-without-vlan", within: namespace, spec: { resourceName: "fast", vlanQoS: 3 } },
  { name: "reversed-rates", within: namespace, spec: { resourceName: "fast", minTxRate: 100, maxTxRate: 50 } },
  { name: "left-behind", within: namespace, spec: { resourceName: "fast", networkNamespace: "leaving" } },
].map((network) => ({ ...network, type: sriovNetworks }));

/** Creates the networks as users do, and waits until upstream's operator has made all definitions. */
export async function createNetworks(testCluster: UpstreamCluster): Promise<void> {
  for (const name of ["tenant", "leaving"]) await testCluster.kubectl(["create", "namespace", name]);
  const networks = [...upstreamNetworks, ...oddNetworks];
  for (const { type, name, within, spec } of networks) {
    const object = { apiVersion: apiVersionOf(type), kind: type.kind, metadata: { name, namespace: within }, spec };
    await testCluster.kubectl(["apply", "-n", within, "-f", "-"], object);
  }
  await eventually(
    "upstream's operator has made all NetworkAttachmentDefinitions",
    async () => Object.keys(await readNads(testCluster)).length === networks.length,
    { withinMs: 60_000 },
  );
  await keepTerminating(testCluster);
}

/** A finalizer of somebody else keeps the definition, and with it the namespace. */
async function keepTerminating(testCluster: UpstreamCluster): Promise<void> {
  const finalizers = JSON.stringify({ metadata: { finalizers: ["example.com/kept"] } });
  await testCluster.kubectl(["patch", nads.plural, "left-behind", "-n", "leaving", "--type=merge", "-p", finalizers]);
  await testCluster.kubectl(["delete", "namespace", "leaving", "--wait=false"]);
  await eventually("the definition in the namespace is being deleted", async () => {
    const text = await testCluster.kubectl(["get", nads.plural, "left-behind", "-n", "leaving", "-o", "json"]);
    return fieldAt(JSON.parse(text) as unknown, "metadata", "deletionTimestamp") !== undefined;
  });
}

/** The stored objects that violate rules of Switchyard's CRDs: uid and spec. */
export async function readOddObjects(testCluster: UpstreamCluster): Promise<readonly unknown[]> {
  const names = oddNetworks.map(({ name }) => `sriovnetwork/${name}`);
  const text = await testCluster.kubectl(["get", ...names, "-o", "json"]);
  const items = fieldAt(JSON.parse(text) as unknown, "items");
  return (Array.isArray(items) ? items : []).map((item: unknown) => ({
    uid: fieldAt(item, "metadata", "uid"),
    spec: fieldAt(item, "spec"),
  }));
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
