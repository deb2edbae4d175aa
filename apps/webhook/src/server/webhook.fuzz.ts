// SPDX-License-Identifier: Apache-2.0
/** Bodies of admission reviews, which anybody who reaches the port can send. */
import { createStateReader, emptyView, reviewedKinds } from "@switchyard/admission";
import { FuzzFinding, type FuzzTarget } from "@switchyard/testing/fuzz";
import { answerReview, readReview } from "../admission-review.ts";
import { mutate, validate } from "../review-handlers.ts";
import { parseBody } from "./parse-body.ts";

const namespace = "sriov-network-operator";
const pf = { pciAddress: "0000:3b:00.0", name: "ens1f0", vendor: "8086", deviceID: "158b", totalvfs: 64 };
const view = {
  ...emptyView(namespace),
  nodes: [{ name: "w1", labels: { worker: "" }, state: createStateReader()({ status: { interfaces: [pf] } }) }],
};

function review(input: Buffer): void {
  const body = parseBody(input);
  const request = body.ok ? readReview(body.value) : body;
  if (!request.ok) return;
  const [patched, checked] = [mutate(request.value), validate(request.value, view, { nowMs: () => 0 })];
  for (const answer of [patched, checked]) {
    const { response } = answerReview(request.value, answer);
    if (response.uid !== request.value.uid || typeof response.allowed !== "boolean")
      throw new FuzzFinding("an answer is not for its review");
    JSON.stringify(response);
  }
}

const policy = {
  resourceName: "fast",
  nodeSelector: { worker: "" },
  numVfs: 4,
  nicSelector: { pfNames: ["ens1f0#0-1"], vendor: "8086" },
  priority: 9,
  mtu: 9000,
  deviceType: "netdevice",
};
const specs: Readonly<Record<string, object>> = {
  SriovNetworkNodePolicy: policy,
  SriovNetwork: { resourceName: "fast", ipam: '{"type":"static"}', vlan: 7, networkNamespace: "default" },
  OVSNetwork: { resourceName: "fast", trunk: [{ id: 7 }, { minID: 8, maxID: 9 }] },
  SriovNetworkPoolConfig: { maxUnavailable: "50%", nodeSelector: { matchLabels: { worker: "" } } },
  SriovOperatorConfig: { enableInjector: true, configDaemonNodeSelector: { worker: "" } },
};
const seedOf = (kind: string, operation: string): string => {
  const isAfxdp = kind.startsWith("Afxdp");
  const group = isAfxdp ? "afxdpnetwork.hns.dev" : "sriovnetwork.openshift.io";
  const version = isAfxdp ? "v1alpha1" : "v1";
  const object = {
    apiVersion: `${group}/${version}`,
    kind,
    metadata: { name: "p1", namespace },
    spec: specs[kind] ?? {},
  };
  return JSON.stringify({
    ...{ apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview" },
    request: {
      uid: "1",
      kind: { group, version, kind },
      operation,
      name: "p1",
      namespace,
      userInfo: { username: "a" },
      object,
      oldObject: operation === "UPDATE" ? object : null,
    },
  });
};

export const targets: readonly FuzzTarget[] = [
  {
    name: "admission-reviews",
    seeds: reviewedKinds.flatMap((kind) => [seedOf(kind, "CREATE"), seedOf(kind, "UPDATE")]),
    run: review,
  },
];
