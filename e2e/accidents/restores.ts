// SPDX-License-Identifier: Apache-2.0
/**
 * Accidents of backup and release tools, as data. All objects of all kinds are lost and restored in the order of Velero, and Helm 3 merges
 * a release into objects that people have edited. They start and end as those of accidents.ts; beside VFs, nodes have devices for AF_XDP.
 */
import {
  customResources,
  networkAttachmentDefinitions,
  operatorConfigName,
  sriovNetworkNodePolicies,
  sriovNetworks,
  sriovOperatorConfigs,
} from "@switchyard/api";
import { isRecord, objectPath, type KubeObject } from "@switchyard/kube";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { ofKind, place, statusOf } from "../faults/scenarios/scenario.ts";
import { namespaces } from "../faults/types.ts";
import { prepareHelm } from "../src/helm/helm.ts";
import { applyPolicy, create, merge, patient } from "./acts.ts";
import { untilAsWanted, type Accident, type World } from "./checker.ts";
import { parents, tenant, type Parent } from "./parents.ts";

/** What users create beside the policy of all accidents. */
const extras = parents.filter(
  ({ type }) => type.group !== "" && type !== sriovOperatorConfigs && type !== sriovNetworkNodePolicies,
);

const isOurs = ({ kind }: KubeObject) => customResources.some((type) => type.kind === kind);

async function apply({ cluster }: World, all: readonly Parent[]): Promise<void> {
  for (const { type, object } of all) if (object !== undefined) await cluster.users.apply(type, object);
}

/** Deletes all objects of our kinds, and creates them again as Velero does: by the names of their kinds, with its labels. */
async function loseAndRestore(world: World, { withStatus }: { readonly withStatus: boolean }): Promise<void> {
  const { users, observer, transport } = world.cluster;
  await users.apply(namespaces, { metadata: { name: tenant } });
  await apply(world, extras);
  await untilAsWanted(world, patient);
  users.nodes.takeHostChanges();
  const backup = observer.objects().filter(isOurs);
  const kinds = customResources.toSorted((a, b) => a.plural.localeCompare(b.plural));
  for (const { kind, metadata } of backup) {
    const type = kinds.find((each) => each.kind === kind);
    if (type !== undefined) await users.delete(type, metadata);
  }
  await delay(3_000);
  for (const type of kinds) {
    for (const object of ofKind(backup, type.kind)) {
      await create(world, type, restored(object));
      if (!withStatus || !("status" in object)) continue;
      const path = objectPath(type, object.metadata, "status");
      await transport.request({ ...merge, path, body: { status: statusOf(object) } });
    }
  }
  await untilAsWanted(world, 2 * patient);
  const found = new Set(observer.objects().map(({ kind, metadata }) => `${kind} ${metadata.name}`));
  const lost = backup.map(({ kind, metadata }) => `${kind} ${metadata.name}`).filter((label) => !found.has(label));
  const changes = [...lost.map((label) => `${label} is not there`), ...users.nodes.takeHostChanges()];
  if (changes.length > 0) throw new Error(changes.join("\n"));
}

/** The object as Velero creates it again. */
function restored({ apiVersion, kind, metadata, ...fields }: KubeObject): object {
  const { name, namespace, annotations } = metadata;
  const labels = { ...metadata.labels, "velero.io/backup-name": "daily", "velero.io/restore-name": "daily-1" };
  const spec = "spec" in fields ? { spec: fields.spec } : {};
  return { apiVersion, kind, metadata: { name, namespace, labels, annotations }, ...spec };
}

const chart = {
  "Chart.yaml": "apiVersion: v2\nname: users\nversion: 1.0.0\n",
  "templates/objects.yaml": [
    "apiVersion: sriovnetwork.openshift.io/v1",
    "kind: SriovNetworkNodePolicy",
    "metadata:",
    "  name: fast",
    "spec:",
    '  nodeSelector: {"node-role.kubernetes.io/worker": ""}',
    '  nicSelector: {rootDevices: ["0000:3b:00.0"]}',
    "  resourceName: fast",
    "  numVfs: {{ .Values.numVfs }}",
    "---",
    "apiVersion: sriovnetwork.openshift.io/v1",
    "kind: SriovNetwork",
    "metadata:",
    "  name: of-release",
    "spec: {networkNamespace: default, resourceName: fast, vlan: {{ .Values.vlan }}}",
    "",
  ].join("\n"),
};

/** Waits until the configuration in the NetworkAttachmentDefinition of the release has these words, without white space. */
async function untilNetworkSays({ cluster }: World, ...words: readonly string[]): Promise<void> {
  const says = () => {
    const network = ofKind(cluster.observer.objects(), networkAttachmentDefinitions.kind).find(
      ({ metadata }) => metadata.name === "of-release",
    );
    const config = network !== undefined && "spec" in network && isRecord(network.spec) ? network.spec["config"] : "";
    const text = String(config).replaceAll(/\s/g, "");
    return words.every((word) => text.includes(word));
  };
  await cluster.until(`the network says ${words.join(" and ")}`, says, patient);
}

async function release(world: World): Promise<void> {
  const { users, controlPlane, transport } = world.cluster;
  const { namespace } = place(operatorConfigName);
  const { kubeconfig, dataDir: directory } = controlPlane;
  const helm = await prepareHelm("helm3", { kubeconfig, namespace, directory });
  const path = join(directory, "users-chart");
  await mkdir(join(path, "templates"), { recursive: true });
  for (const [file, text] of Object.entries(chart)) await writeFile(join(path, file), text);
  const install = (vlan: number) =>
    helm.run(["upgrade", "--install", "users", path, "--values", "-"], { numVfs: world.wish.numVfs, vlan });

  await adoptByHelm(world);
  await install(5);
  await untilNetworkSays(world, '"vlan":5');
  const edit = { spec: { vlan: 7, spoofChk: "off" } };
  await transport.request({ ...merge, path: objectPath(sriovNetworks, place("of-release")), body: edit });
  await untilNetworkSays(world, '"vlan":7', '"spoofchk":"off"');
  await install(6);
  await untilNetworkSays(world, '"vlan":6', '"spoofchk":"off"'); // what the release does not have stays
  await helm.run(["rollback", "users", "1"]);
  await untilNetworkSays(world, '"vlan":5');
  await helm.run(["uninstall", "users", "--keep-history"]);
  await delay(8_000);
  await helm.run(["rollback", "users", "1"]);
  await untilNetworkSays(world, '"vlan":5');
  await untilAsWanted(world, patient);
  await users.delete(sriovNetworks, place("of-release"));
  await applyPolicy(world);
}

/** Gives the policy the marks with which Helm takes an existing object into a release. */
async function adoptByHelm({ cluster }: World): Promise<void> {
  const { name, namespace } = place("fast");
  const annotations = { "meta.helm.sh/release-name": "users", "meta.helm.sh/release-namespace": namespace };
  const metadata = { labels: { "app.kubernetes.io/managed-by": "Helm" }, annotations };
  const path = objectPath(sriovNetworkNodePolicies, { name, namespace });
  await cluster.transport.request({ ...merge, path, body: { metadata } });
}

export const restores: readonly Accident[] = [
  {
    name: "Velero restores all objects of all kinds without their status",
    withinMs: 240_000,
    act: (world) => loseAndRestore(world, { withStatus: false }),
  },
  {
    name: "Velero restores all objects of all kinds with their status",
    withinMs: 240_000,
    act: (world) => loseAndRestore(world, { withStatus: true }),
  },
  {
    name: "Helm 3 merges a release into objects that people have edited, rolls it back, and uninstalls it by mistake",
    act: release,
  },
];
