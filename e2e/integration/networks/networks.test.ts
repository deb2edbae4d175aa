// SPDX-License-Identifier: Apache-2.0
/**
 * Networks and their NetworkAttachmentDefinitions, on a real API server with a controller manager: the operator as a
 * process with its rights in a cluster, the garbage collector, deleted namespaces, and an audit log.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from "@jest/globals";
import {
  annotations,
  networkAttachmentDefinitions,
  ovsNetworks,
  sriovIBNetworks,
  sriovNetworkNodePolicies,
  sriovNetworks,
  bridgeNetworks,
  upstreamFinalizers,
} from "@switchyard/api";
import {
  apiVersionOf,
  collectionPath,
  connect,
  isKubeObject,
  isRecord,
  objectPath,
  type KubeObject,
  type ResourceType,
  type Transport,
} from "@switchyard/kube";
import { operatorIdentity } from "@switchyard/render";
import { eventually, isWrite, startControlPlane, type ControlPlane } from "@switchyard/testing";
import { join } from "node:path";
import { spawnKept, type KeptProcess } from "../../src/kept-process.ts";
import { crdFolder, workspace } from "../../src/crds/crd-objects.ts";
import { componentSettings, namespace } from "../../src/operator/identity-objects.ts";
import { deployedOperatorArguments } from "../../src/operator/operator-command.ts";
import { readIfThere } from "../../src/api/plain-api.ts";

const account = componentSettings.operatorServiceAccount;
const operatorUser = `system:serviceaccount:${namespace}:${account}`;
const nadCrd = join(workspace, "libs/testing/testdata/multus/network-attachment-definitions.yaml");
const namespaces = { group: "", version: "v1", kind: "Namespace", plural: "namespaces", namespaced: false };
const kinds = [sriovNetworks, sriovIBNetworks, ovsNetworks, bridgeNetworks];
const watched = [...kinds, networkAttachmentDefinitions, namespaces];

let cluster: ControlPlane;
let user: Transport;
let operator: KeptProcess;

beforeAll(async () => {
  cluster = await startControlPlane({ controllerManager: true, auditLog: true });
  await cluster.applyCrds(crdFolder);
  user = await connect({ kubeconfig: cluster.kubeconfig, userAgent: "test" });
  for (const name of [namespace, "tenant", "other"]) await createNamespace(name);
  const identity = { apiVersion: "v1", kind: "List", items: operatorIdentity(componentSettings) };
  await cluster.kubectl(["create", "-f", "-"], { input: JSON.stringify(identity) });
  operator = await startOperator();
}, 600_000);

afterEach(() => operator.mustBeAlive());

afterAll(async () => {
  await operator.kill();
  await user[Symbol.asyncDispose]();
  await cluster[Symbol.asyncDispose]();
}, 60_000);

async function startOperator(): Promise<KeptProcess> {
  const args = await deployedOperatorArguments(cluster);
  return spawnKept(args, { log: join(cluster.dataDir, "operator.log"), name: "networks-operator" });
}

async function createNamespace(name: string): Promise<void> {
  const body = { apiVersion: "v1", kind: "Namespace", metadata: { name } };
  await user.request({ method: "POST", path: collectionPath(namespaces), body });
}

interface NewNetwork {
  readonly in?: string;
  readonly metadata?: object;
}

/** Creates a network, in the operator's namespace by default. */
async function create(type: ResourceType, name: string, spec: object, more: NewNetwork = {}): Promise<void> {
  const metadata = { name, ...more.metadata };
  const body = { apiVersion: apiVersionOf(type), kind: type.kind, metadata, spec: { resourceName: "nics", ...spec } };
  await user.request({ method: "POST", path: collectionPath(type, more.in ?? namespace), body });
}

async function patch(type: ResourceType, [at, name]: Place, body: object): Promise<void> {
  const contentType = "application/merge-patch+json";
  await user.request({ method: "PATCH", path: objectPath(type, { namespace: at, name }), contentType, body });
}

async function remove(type: ResourceType, [at, name]: Place): Promise<void> {
  await user.request({ method: "DELETE", path: objectPath(type, { namespace: at, name }) });
}

type Place = readonly [namespace: string, name: string];

async function read(type: ResourceType, [at, name]: Place): Promise<KubeObject | undefined> {
  const object = await readIfThere(user, objectPath(type, { namespace: at, name }));
  return isKubeObject(object) ? object : undefined;
}

const nad = (...place: Place) => read(networkAttachmentDefinitions, place);
const nadIs = (...place: Place) => eventually(`NAD ${place.join("/")}`, () => nad(...place));
const nadIsGone = (...place: Place) =>
  eventually(`no NAD ${place.join("/")}`, async () => (await nad(...place)) === undefined);

function configOf(object: unknown): Readonly<Record<string, unknown>> {
  const spec = isRecord(object) && isRecord(object["spec"]) ? object["spec"] : {};
  const config: unknown = JSON.parse(String(spec["config"]));
  return isRecord(config) ? config : {};
}

/** Waits until the condition Ready, written as "True NetworkReady: …", contains `text`. */
async function readyIs(type: ResourceType, place: Place, text: string): Promise<void> {
  let last = "";
  const says = async () => {
    const network = await read(type, place);
    const status = isRecord(network) && isRecord(network["status"]) ? network["status"] : {};
    const conditions: unknown[] = Array.isArray(status["conditions"]) ? status["conditions"] : [];
    const ready = conditions.filter(isRecord).find((condition) => condition["type"] === "Ready");
    last = ready ? `${String(ready["status"])} ${String(ready["reason"])}: ${String(ready["message"])}` : "";
    return last.includes(text);
  };
  await eventually(`${type.kind} ${place.join("/")} says "${text}"`, says).catch((cause: unknown) => {
    throw new Error(`${type.kind} ${place.join("/")} says "${last}", not "${text}"`, { cause });
  });
}

describe("without Multus", () => {
  it("networks report the missing kind, policies work, and the networks are rendered once the kind exists", async () => {
    await create(sriovNetworks, "early", { networkNamespace: "tenant" });
    await readyIs(
      sriovNetworks,
      [namespace, "early"],
      "NetworkAttachmentDefinitionNotFound: the API server does not serve Network",
    );
    await create(sriovNetworkNodePolicies, "policy", { nodeSelector: {}, nicSelector: { vendor: "8086" }, numVfs: 2 });
    await readyIs(sriovNetworkNodePolicies, [namespace, "policy"], "NoOperatorConfig");
    await cluster.applyCrds(nadCrd);
    await readyIs(sriovNetworks, [namespace, "early"], "True NetworkReady");
    expect(configOf(await nad("tenant", "early"))["type"]).toBe("sriov");
  });
});

describe("a network", () => {
  it.each(kinds)("of kind $kind becomes a NAD, in its own namespace or in another", async (type) => {
    const name = type.plural;
    await create(
      type,
      name,
      { bridge: type === ovsNetworks || type === bridgeNetworks ? "br0" : undefined },
      { in: "tenant" },
    );
    await create(type, `${name}-far`, {
      networkNamespace: "tenant",
      ...(type === bridgeNetworks && { bridge: "br0" }),
    });
    await readyIs(type, ["tenant", name], "True NetworkReady");
    await readyIs(type, [namespace, `${name}-far`], "True NetworkReady");
    const owner = await read(type, ["tenant", name]);
    const { metadata } = await nadIs("tenant", name);
    expect(metadata.ownerReferences).toEqual([
      { apiVersion: apiVersionOf(type), kind: type.kind, name, uid: owner?.metadata.uid },
    ]);
    expect(metadata.annotations).toEqual({
      [annotations.resourceName]: "openshift.io/nics",
      [annotations.ownerRef]: `${type.kind}.${type.group}/tenant/${name}`,
    });
    expect((await nadIs("tenant", `${name}-far`)).metadata.ownerReferences).toBeUndefined();
  });

  it("keeps labels and annotations that users put on its NAD, and repairs its own fields (sriov-operator.md M-16)", async () => {
    await create(sriovNetworks, "drift", { networkNamespace: "tenant", vlan: 5 });
    await nadIs("tenant", "drift");
    const mine = { "example.com/mine": "kept" };
    await patch(networkAttachmentDefinitions, ["tenant", "drift"], {
      metadata: { labels: mine, annotations: { ...mine, [annotations.resourceName]: "openshift.io/wrong" } },
      spec: { config: "{}" },
    });
    await eventually("repaired", async () => configOf(await nad("tenant", "drift"))["vlan"] === 5);
    await patch(sriovNetworks, [namespace, "drift"], { spec: { vlan: 6 } });
    await eventually("changed", async () => configOf(await nad("tenant", "drift"))["vlan"] === 6);
    const { metadata } = await nadIs("tenant", "drift");
    expect(metadata).toMatchObject({
      labels: mine,
      annotations: { ...mine, [annotations.resourceName]: "openshift.io/nics" },
    });
    await remove(networkAttachmentDefinitions, ["tenant", "drift"]);
    await nadIs("tenant", "drift");
  });

  it("moves its NAD to another namespace (sriov-operator.md M-15), and the NAD is deleted with it", async () => {
    await create(ovsNetworks, "mover", { networkNamespace: "tenant" });
    await nadIs("tenant", "mover");
    await patch(ovsNetworks, [namespace, "mover"], { spec: { networkNamespace: "missing" } });
    await readyIs(ovsNetworks, [namespace, "mover"], "NamespaceNotFound");
    await nadIsGone("tenant", "mover");
    await patch(ovsNetworks, [namespace, "mover"], { spec: { networkNamespace: "other" } });
    await nadIs("other", "mover");
    await readyIs(ovsNetworks, [namespace, "mover"], "True NetworkReady");
    await remove(ovsNetworks, [namespace, "mover"]);
    await nadIsGone("other", "mover");
  });

  it("reports the position of a JSON error in its ipam (sriov-operator.md M-54)", async () => {
    await create(sriovNetworks, "broken", { ipam: '{"type": host-local}' });
    await readyIs(sriovNetworks, [namespace, "broken"], "spec.ipam: invalid JSON at line 1, column 10");
    await eventually("a warning", async () => {
      const field = "involvedObject.name=broken";
      const events = await cluster.kubectl(["get", "events", "-n", namespace, "--field-selector", field]);
      return /Warning +NetworkAttachmentDefinitionInvalid/.test(events);
    });
  });

  it("of 256 KiB and 100 levels becomes a NAD of about this size; a larger one is reported and not sent", async () => {
    const values = Array.from({ length: 65_000 }, () => 1).join(",");
    const deep = `{"type": "x", "a": ${"[".repeat(97)}${values}${"]".repeat(97)}}`;
    await create(sriovNetworks, "deep", { ipam: deep, metaPlugins: deep });
    await readyIs(sriovNetworks, [namespace, "deep"], "True NetworkReady");
    const stored = JSON.stringify(await nad(namespace, "deep"));
    expect(stored.length).toBeLessThan(300_000);
    expect(configOf(await nad(namespace, "deep"))).toMatchObject({ plugins: [{ ipam: { type: "x" } }, { type: "x" }] });

    const large = `{"type": "x", "a": "${"𝄞".repeat(65_000)}"}`;
    await patch(sriovNetworks, [namespace, "deep"], { spec: { ipam: large, metaPlugins: `${large},${large}` } });
    await readyIs(
      sriovNetworks,
      [namespace, "deep"],
      "False NetworkAttachmentDefinitionInvalid: spec: results in a CNI configuration of 762 KiB; the limit is 512 KiB",
    );
    expect(configOf(await nad(namespace, "deep"))).toMatchObject({ plugins: [{ ipam: { type: "x" } }, {}] });
  });

  it("waits until its namespace exists, also after the namespace was deleted", async () => {
    await create(sriovNetworks, "waiting", { networkNamespace: "later" });
    await readyIs(sriovNetworks, [namespace, "waiting"], "False NamespaceNotFound: namespace later does not exist");
    await createNamespace("later");
    await readyIs(sriovNetworks, [namespace, "waiting"], "True NetworkReady");
    await user.request({ method: "DELETE", path: objectPath(namespaces, { name: "later" }) });
    await eventually("namespace gone", async () => {
      const names = await cluster.kubectl(["get", "namespaces", "-o", "name"]);
      return !names.includes("namespace/later");
    });
    await readyIs(sriovNetworks, [namespace, "waiting"], "False NamespaceNotFound: namespace later does not exist");
    await createNamespace("later");
    await readyIs(sriovNetworks, [namespace, "waiting"], "True NetworkReady");
    await nadIs("later", "waiting");
  });

  it("does not change a NAD of somebody else, and creates its own once that is deleted", async () => {
    const body = {
      ...typeOf(networkAttachmentDefinitions),
      // Each NAD for VFs needs this annotation, whoever writes it.
      metadata: { name: "taken", annotations: { [annotations.resourceName]: "openshift.io/nics" } },
      spec: { config: '{"type":"sriov","vlan":100}' },
    };
    const path = collectionPath(networkAttachmentDefinitions, "tenant");
    await user.request({ method: "POST", path, body });
    await create(sriovNetworks, "taken", { networkNamespace: "tenant" });
    await readyIs(
      sriovNetworks,
      [namespace, "taken"],
      "tenant/taken was not created from a network and is not changed",
    );
    expect(configOf(await nad("tenant", "taken"))).toEqual({ type: "sriov", vlan: 100 });
    await remove(networkAttachmentDefinitions, ["tenant", "taken"]);
    await readyIs(sriovNetworks, [namespace, "taken"], "True NetworkReady");
  });

  it("does not delete a NAD of somebody else, and takes it over once its owner annotates it as the condition says", async () => {
    const body = {
      ...typeOf(networkAttachmentDefinitions),
      metadata: { name: "given", annotations: { [annotations.resourceName]: "openshift.io/nics" } },
      spec: { config: '{"type":"sriov","vlan":100}' },
    };
    await user.request({ method: "POST", path: collectionPath(networkAttachmentDefinitions, "tenant"), body });
    for (const at of [namespace, "tenant"]) {
      await create(sriovNetworks, "given", at === namespace ? { networkNamespace: "tenant" } : {}, { in: at });
      await readyIs(sriovNetworks, [at, "given"], "was not created from a network and is not changed");
      await remove(sriovNetworks, [at, "given"]);
    }
    await create(sriovNetworks, "after-the-given", {}); // once its NAD exists, the operator has handled the deletions
    await nadIs(namespace, "after-the-given");
    expect(configOf(await nad("tenant", "given"))).toEqual({ type: "sriov", vlan: 100 });
    await create(sriovNetworks, "given", { networkNamespace: "tenant", vlan: 7 });
    const ref = `SriovNetwork.sriovnetwork.openshift.io/${namespace}/given`;
    const command = `kubectl annotate -n tenant network-attachment-definitions.k8s.cni.cncf.io given ${annotations.ownerRef}=${ref}`;
    await readyIs(sriovNetworks, [namespace, "given"], command);
    await cluster.kubectl(command.split(" ").slice(1));
    await readyIs(sriovNetworks, [namespace, "given"], "True NetworkReady");
    expect(configOf(await nad("tenant", "given"))).toMatchObject({ type: "sriov", vlan: 7 });
  });

  it("that lost a name conflict gets the NAD when the winner is deleted, and never deletes it (sriov-operator.md M-51)", async () => {
    await create(sriovNetworks, "fight", { networkNamespace: "tenant" });
    await readyIs(sriovNetworks, [namespace, "fight"], "True NetworkReady");
    await create(ovsNetworks, "fight", {}, { in: "tenant" });
    await readyIs(ovsNetworks, ["tenant", "fight"], `belongs to SriovNetwork ${namespace}/fight; delete or rename`);
    await create(sriovIBNetworks, "fight", { networkNamespace: "tenant" });
    await readyIs(sriovIBNetworks, [namespace, "fight"], "belongs to SriovNetwork");
    const before = await nadIs("tenant", "fight");
    await remove(ovsNetworks, ["tenant", "fight"]);
    await remove(sriovIBNetworks, [namespace, "fight"]);
    await create(sriovNetworks, "after-the-fight", {}); // once its NAD exists, the operator has handled the deletions
    await nadIs(namespace, "after-the-fight");
    await create(ovsNetworks, "fight", { vlan: 9 }, { in: "tenant" });
    await readyIs(ovsNetworks, ["tenant", "fight"], "belongs to SriovNetwork");
    expect((await nad("tenant", "fight"))?.metadata).toMatchObject({
      uid: before.metadata.uid,
      resourceVersion: before.metadata.resourceVersion,
    });
    await remove(sriovNetworks, [namespace, "fight"]);
    await readyIs(ovsNetworks, ["tenant", "fight"], "True NetworkReady");
    expect(configOf(await nad("tenant", "fight"))).toMatchObject({ type: "ovs", vlan: 9 });
  });

  it("of upstream's operator is taken over: finalizer, annotation, and a NAD without an owner annotation", async () => {
    const marks = { [annotations.resourceName]: "openshift.io/nics" };
    const body = {
      ...typeOf(networkAttachmentDefinitions),
      metadata: { name: "old", annotations: marks },
      spec: { config: "{}" },
    };
    const path = collectionPath(networkAttachmentDefinitions, "other");
    await user.request({ method: "POST", path, body, query: { fieldManager: "sriov-network-operator" } });
    const metadata = {
      finalizers: [upstreamFinalizers.network],
      annotations: { [annotations.lastNetworkNamespace]: "other" },
    };
    await create(sriovIBNetworks, "old", { networkNamespace: "other" }, { metadata });
    await readyIs(sriovIBNetworks, [namespace, "old"], "True NetworkReady");
    expect(configOf(await nad("other", "old"))["type"]).toBe("ib-sriov");
    const taken = await read(sriovIBNetworks, [namespace, "old"]);
    expect([taken?.metadata.finalizers, taken?.metadata.annotations]).toEqual([undefined, undefined]);
  });
});

describe("a NAD that others change, too", () => {
  /** Sets spec.config as a GitOps controller does that corrects itself. */
  async function setByArgo(name: string): Promise<void> {
    const spec = { config: "{}" };
    const metadata = { name, namespace: "tenant" };
    await user.request({
      method: "PATCH",
      path: objectPath(networkAttachmentDefinitions, metadata),
      query: { fieldManager: "argocd-controller", force: true },
      contentType: "application/apply-patch+yaml",
      body: { apiVersion: "k8s.cni.cncf.io/v1", kind: "NetworkAttachmentDefinition", metadata, spec },
    });
  }

  it("is reported with the manager and the field after the third revert, and an event warns", async () => {
    await create(sriovNetworks, "contested", { networkNamespace: "tenant" });
    await nadIs("tenant", "contested");
    for (let nth = 1; nth <= 3; nth++) {
      await setByArgo("contested");
      await eventually("the operator's config", async () => "type" in configOf(await nad("tenant", "contested")));
    }
    const place = [namespace, "contested"] as const;
    await readyIs(
      sriovNetworks,
      place,
      "False FieldsContested: NetworkAttachmentDefinition tenant/contested: field manager",
    );
    await readyIs(sriovNetworks, place, '"argocd-controller" changes spec.config again and again');
    await eventually("the event", async () => {
      const fields = "regarding.name=contested,reason=FieldsContested,type=Warning";
      const args = ["get", "events.v1.events.k8s.io", "-A", "-o", "name", "--field-selector", fields];
      return (await cluster.kubectl(args)) !== "";
    });
  });

  it("is not fought about in the status: an event names the manager that replaces a condition again and again", async () => {
    await create(sriovNetworks, "two-operators", { networkNamespace: "tenant" });
    const place = [namespace, "two-operators"] as const;
    const own = "True NetworkReady: NetworkAttachmentDefinition is provisioned as tenant/two-operators";
    await readyIs(sriovNetworks, place, own);
    const condition = { type: "Ready", status: "False", reason: "Other", message: "by another operator" };
    for (let nth = 1; nth <= 3; nth++) {
      await user.request({
        method: "PATCH",
        path: objectPath(sriovNetworks, { namespace, name: "two-operators" }, "status"),
        query: { fieldManager: "sriov-network-operator" },
        contentType: "application/merge-patch+json",
        body: { status: { conditions: [{ ...condition, lastTransitionTime: `2026-11-28T00:00:0${nth}Z` }] } },
      });
      await readyIs(sriovNetworks, place, own);
    }
    await eventually("the event", async () => {
      const fields = "regarding.name=two-operators,reason=StatusContested,type=Warning";
      const args = [
        "get",
        "events.v1.events.k8s.io",
        "-A",
        "-o",
        "jsonpath={.items[*].note}",
        "--field-selector",
        fields,
      ];
      return (await cluster.kubectl(args)).includes('field manager "sriov-network-operator" changes status.conditions');
    });
  });

  it("is reported with the fields that admission replaces", async () => {
    const value = JSON.stringify('{"cniVersion":"0.4.0","type":"sriov","name":"replaced"}');
    const policy = {
      apiVersion: "admissionregistration.k8s.io/v1",
      kind: "MutatingAdmissionPolicy",
      metadata: { name: "old-cni" },
      spec: {
        reinvocationPolicy: "Never",
        failurePolicy: "Fail",
        matchConstraints: {
          resourceRules: [
            {
              apiGroups: ["k8s.cni.cncf.io"],
              apiVersions: ["v1"],
              operations: ["CREATE", "UPDATE"],
              resources: ["network-attachment-definitions"],
            },
          ],
        },
        matchConditions: [{ name: "name", expression: 'object.metadata.name == "replaced"' }],
        mutations: [
          {
            patchType: "JSONPatch",
            jsonPatch: { expression: `[JSONPatch{op: "replace", path: "/spec/config", value: ${value}}]` },
          },
        ],
      },
    };
    const binding = {
      apiVersion: "admissionregistration.k8s.io/v1",
      kind: "MutatingAdmissionPolicyBinding",
      metadata: { name: "old-cni" },
      spec: { policyName: "old-cni" },
    };
    const input = JSON.stringify({ apiVersion: "v1", kind: "List", items: [policy, binding] });
    await cluster.kubectl(["create", "-f", "-"], { input });
    await eventually("the policy is in force", async () => {
      const object = { apiVersion: "k8s.cni.cncf.io/v1", kind: "NetworkAttachmentDefinition" };
      const body = JSON.stringify({ ...object, metadata: { name: "replaced" }, spec: { config: "{}" } });
      const args = ["create", "--dry-run=server", "-n", "other", "-o", "jsonpath={.spec.config}", "-f", "-"];
      return (await cluster.kubectl(args, { input: body })) !== "{}";
    });
    await create(sriovNetworks, "replaced", { networkNamespace: "tenant" });
    const place = [namespace, "replaced"] as const;
    await readyIs(
      sriovNetworks,
      place,
      "True FieldsReplaced: NetworkAttachmentDefinition tenant/replaced: admission replaced",
    );
    await readyIs(sriovNetworks, place, "spec.config from ");
    expect(configOf(await nad("tenant", "replaced"))).toMatchObject({ cniVersion: "0.4.0" });
    for (const { kind } of [binding, policy]) await cluster.kubectl(["delete", kind, "old-cni"]);
  });
});

describe("an operator that is restarted", () => {
  it("does not block deletions while it is down, and handles them when it is back", async () => {
    await create(ovsNetworks, "gone", { networkNamespace: "tenant" });
    await create(ovsNetworks, "moved", { networkNamespace: "tenant" });
    await nadIs("tenant", "gone");
    await readyIs(ovsNetworks, [namespace, "moved"], "True NetworkReady");
    await operator.kill();
    await remove(ovsNetworks, [namespace, "gone"]);
    await eventually("network gone", async () => (await read(ovsNetworks, [namespace, "gone"])) === undefined);
    await patch(ovsNetworks, [namespace, "moved"], { spec: { networkNamespace: "other" } });

    operator = await startOperator();
    await nadIsGone("tenant", "gone");
    await nadIsGone("tenant", "moved");
    await readyIs(ovsNetworks, [namespace, "moved"], "NetworkAttachmentDefinition is provisioned as other/moved");
  });

  it("writes nothing when nothing has changed", async () => {
    await operator.kill();
    const before = (await writes()).length;
    const listed = await lists();
    operator = await startOperator();
    await eventually("all lists", async () => (await lists()) >= listed + watched.length);
    // The operator handles this network after all others.
    await create(sriovNetworks, "last", { networkNamespace: "other" });
    await readyIs(sriovNetworks, [namespace, "last"], "True NetworkReady");
    await eventually("the audit log", async () => (await writes()).length >= before + 2);
    expect((await writes()).slice(before)).toEqual([
      "patch other/last of network-attachment-definitions",
      `patch ${namespace}/last of sriovnetworks/status`,
    ]);
  });

  it("leaves a NAD in its network's own namespace to the garbage collector", async () => {
    await create(ovsNetworks, "owner", {}, { in: "tenant" });
    await nadIs("tenant", "owner");
    await remove(ovsNetworks, ["tenant", "owner"]);
    await nadIsGone("tenant", "owner");
  });

  it("has the rights for all its requests", async () => {
    const refused = (await requests()).filter(({ responseStatus }) => responseStatus?.code === 403);
    expect(refused.map(({ requestURI }) => requestURI)).toEqual([]);
    expect(operator.hasExited()).toBe(false);
  });
});

const typeOf = (type: ResourceType) => ({ apiVersion: apiVersionOf(type), kind: type.kind });

/** The operator's requests for networks, NADs and namespaces. */
async function requests() {
  const plurals = watched.map(({ plural }) => plural);
  return (await cluster.auditEvents()).filter(({ user: { username }, objectRef }) => {
    return username === operatorUser && plurals.includes(objectRef?.resource ?? "");
  });
}

async function writes(): Promise<readonly string[]> {
  return (await requests()).filter(isWrite).map(({ verb, objectRef = {} }) => {
    const { namespace: at = "", name = "", resource = "", subresource } = objectRef;
    return `${verb} ${at}/${name} of ${[resource, subresource].filter((part) => part !== undefined).join("/")}`;
  });
}

async function lists(): Promise<number> {
  return (await requests()).filter(({ verb }) => verb === "list").length;
}
