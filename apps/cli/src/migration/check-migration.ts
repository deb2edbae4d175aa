// SPDX-License-Identifier: Apache-2.0
/**
 * checkMigration says what an administrator must know before Switchyard takes over a cluster of the Go SR-IOV network operator.
 * This is what stands in the way, what changes, what restarts, and how to go back. The specs are those that the operator would
 * write.
 */
import { annotations, drainAnswers } from "@switchyard/api";
import { createRules } from "@switchyard/policy";
import { isDeepStrictEqual } from "node:util";
import { nicPolicyOf, type ClusterObjects } from "../cluster/cluster-objects.ts";
import { desiredStates } from "../cluster/desired-states.ts";
import type { RefusedObject } from "../diagnosis/snapshot.ts";
import { at, isJsonObject, labelOf, listAt, stringsAt, textAt, type Manifest } from "../json.ts";
import { silentDiagnostics } from "../terminal.ts";
import { charts, type HelmRelease } from "./helm-release.ts";

/** What the check knows. Undefined: not known. */
interface MigrationFacts {
  readonly cluster: ClusterObjects;
  readonly manifests: readonly Manifest[];
  /** Objects that violate the CRDs. */
  readonly refused: readonly RefusedObject[];
  readonly namespace: string;
  /** gitVersion of the API server, such as "v1.36.3". */
  readonly kubernetesVersion: string | undefined;
  /** The output of `helm version --short`. */
  readonly helmVersion: string | undefined;
  readonly release: HelmRelease | undefined;
}

/** "stop": the upgrade or the way back fails, or does harm, until it is corrected. "note": to be known before. */
interface MigrationFinding {
  readonly severity: "stop" | "note";
  /** The object or value that the finding is about. */
  readonly about: string;
  /** One or more sentences. */
  readonly text: string;
}

export interface MigrationCheck {
  /** What was found: versions and the release, one sentence each. */
  readonly facts: readonly string[];
  /** Those that stand in the way first. */
  readonly findings: readonly MigrationFinding[];
  /** What restarts, one line for each workload. */
  readonly restarts: readonly string[];
  /** The command that goes back; undefined if the release or the version of Helm is not known. */
  readonly wayBack: string | undefined;
}

/** The policy that upstream's operator created until 1.2. Neither operator uses it. */
const unusedPolicy = "default";
const ownImages = ["operator", "sriovConfigDaemon", "webhook"];
const oldestKubernetes = { major: 1, minor: 30 };
/** --take-ownership, which the way back needs. All versions of Helm 4 have it. */
const oldestHelm = { major: 3, minor: 17 };
/** DaemonSets that the operator changes, whichever of them exist. */
const components = [
  ...["sriov-network-config-daemon", "sriov-device-plugin", "operator-webhook"],
  ...["network-resources-injector", "sriov-network-metrics-exporter"],
];

export function checkMigration(facts: MigrationFacts): MigrationCheck {
  const findings = [
    ...versionFindings(facts),
    ...valueFindings(facts.release),
    ...imageFindings(facts),
    ...storedFindings(facts.refused),
    ...policyFindings(facts),
    ...specFindings(facts),
    ...drainFindings(facts.cluster),
  ];
  return {
    facts: knownFacts(facts),
    findings: [...findings.filter(({ severity }) => severity === "stop"), ...findings.filter(isNote)],
    restarts: restarts(facts),
    wayBack: wayBack(facts),
  };
}

function isNote({ severity }: MigrationFinding): boolean {
  return severity === "note";
}

const stop = (about: string, text: string): MigrationFinding => ({ severity: "stop", about, text });
const note = (about: string, text: string): MigrationFinding => ({ severity: "note", about, text });

function knownFacts({ kubernetesVersion, helmVersion, release, namespace }: MigrationFacts): readonly string[] {
  const { name, chart, version, revision } = release ?? {};
  return [
    `Kubernetes: ${kubernetesVersion ?? "version not known; Switchyard needs 1.30"}`,
    `Helm: ${helmVersion ?? "version not known; the way back needs 3.17 or later (--helm-version)"}`,
    release === undefined
      ? `no Helm release of the operator was found in namespace ${namespace}`
      : `release ${name ?? ""} in namespace ${namespace}: chart ${chart ?? ""} ${version ?? ""}, revision ${revision ?? 0}`,
  ];
}

interface Version {
  readonly major: number;
  readonly minor: number;
}

/** Reads "v1.30.14+abc" and "v3.17.2+gcc0bbbd". */
function parseVersion(text: string | undefined): Version | undefined {
  const [, major, minor] = /^\D*(\d+)\.(\d+)/.exec(text ?? "") ?? [];
  return major === undefined ? undefined : { major: Number(major), minor: Number(minor) };
}

function isOlder(version: Version | undefined, oldest: Version): boolean {
  if (version === undefined) return false;
  return version.major === oldest.major ? version.minor < oldest.minor : version.major < oldest.major;
}

function versionFindings({ kubernetesVersion, helmVersion }: MigrationFacts): readonly MigrationFinding[] {
  return [
    ...(isOlder(parseVersion(kubernetesVersion), oldestKubernetes)
      ? [stop("Kubernetes", "is older than 1.30; Helm refuses the chart. Upgrade Kubernetes first.")]
      : []),
    ...(isOlder(parseVersion(helmVersion), oldestHelm)
      ? [stop("Helm", "is older than 3.17, and has no --take-ownership, which the way back needs. Use a newer Helm.")]
      : []),
  ];
}

/** The chart has images of its own for these three programs. A mirror of upstream's would run upstream's program. */
function valueFindings(release: HelmRelease | undefined): readonly MigrationFinding[] {
  if (release?.chart !== charts.upstream) return [];
  return ownImages.flatMap((image) => {
    const value = textAt(at(release.values, "images"), image);
    if (value === undefined) return [];
    const text =
      `is set to "${value}", upstream's program. Set it to a mirror of Switchyard's image in the upgrade: ` +
      "the chart refuses upstream's names, but cannot recognize a renamed image.";
    return [stop(`images.${image}`, text)];
  });
}

/** After an upgrade: a renamed image of upstream's operator under Switchyard's Deployment. */
function imageFindings({ manifests, namespace }: MigrationFacts): readonly MigrationFinding[] {
  return operatorDeployments(manifests, namespace).flatMap((deployment) => {
    if (stringsAt(deployment.object, "metadata", "labels")["app.kubernetes.io/name"] !== charts.own) return [];
    return containers(deployment).flatMap((container) => {
      const image = textAt(container, "image") ?? "";
      const isUpstreams = /(?:^|\/)(?:origin-)?(?:sriov|sno)-[^/:@]*operator/.test(image);
      const text =
        `runs the image "${image}", whose name is that of upstream's operator. ` +
        "Set images.operator to Switchyard's image.";
      return isUpstreams ? [stop(labelOf(deployment), text)] : [];
    });
  });
}

function operatorDeployments(manifests: readonly Manifest[], namespace: string): readonly Manifest[] {
  return manifests.filter((manifest) => {
    if (manifest.kind !== "Deployment" || (manifest.namespace ?? namespace) !== namespace) return false;
    const labels = stringsAt(manifest.object, "spec", "template", "metadata", "labels");
    return labels["name"] === "sriov-network-operator";
  });
}

function containers({ object }: Manifest): readonly unknown[] {
  return listAt(object, "spec", "template", "spec", "containers");
}

function storedFindings(refused: readonly RefusedObject[]): readonly MigrationFinding[] {
  return refused
    .filter(({ manifest }) => !manifest.kind.endsWith("NodeState"))
    .map(({ manifest, problem }) =>
      note(
        labelOf(manifest),
        `violates a rule of Switchyard's CRDs, which upstream's lack: ${problem}. It stays, and its other fields can be changed.`,
      ),
    );
}

function policyFindings({ cluster, namespace }: MigrationFacts): readonly MigrationFinding[] {
  const used = new Set(
    desired(cluster, namespace).flatMap(({ spec }) =>
      (spec.interfaces ?? []).flatMap(({ vfGroups = [] }) => vfGroups.flatMap(({ policyName }) => policyName ?? [])),
    ),
  );
  const advice = "a wait for all policies to be Ready does not end. Delete it before, or wait for the others by name.";
  return cluster.policies.flatMap(({ metadata: { name } }) => {
    const about = `SriovNetworkNodePolicy/${namespace}/${name}`;
    if (name === unusedPolicy) {
      return [note(about, `has no effect with both operators, so it does not become Ready, and ${advice}`)];
    }
    return used.has(name) ? [] : [note(about, `selects no NIC of a node, so it does not become Ready, and ${advice}`)];
  });
}

function desired(cluster: ClusterObjects, namespace: string) {
  const { policies, pools, operatorConfig } = cluster;
  const rules = createRules({ policies, pools, operatorConfig, nics: nicPolicyOf(cluster) });
  return desiredStates(cluster, { rules, namespace, diagnostics: silentDiagnostics });
}

/** Differences of the specs. Upstream writes empty objects where Switchyard writes nothing. */
function specFindings({ cluster, namespace }: MigrationFacts): readonly MigrationFinding[] {
  return desired(cluster, namespace).flatMap(({ node: { metadata }, spec }) => {
    const state = cluster.states.get(metadata.name);
    const [before, after] = [comparable(state?.spec ?? {}), comparable(spec)];
    if (state === undefined || isDeepStrictEqual(before, after)) return [];
    const fields = [...new Set([...Object.keys(before), ...Object.keys(after)])];
    const changed = fields.filter((field) => !isDeepStrictEqual(before[field], after[field])).sort();
    const list = changed.map((field) => `spec.${field}`).join(", ");
    const command = "switchyard render --only SriovNetworkNodeState shows the new spec.";
    return [note(`SriovNetworkNodeState/${namespace}/${metadata.name}`, `gets another ${list}: ${command}`)];
  });
}

/** The value without empty objects, lists and texts, with lists of PFs in the order of their addresses. */
function comparable(value: object): Readonly<Record<string, unknown>> {
  const whole = withoutEmpty(value);
  return isJsonObject(whole) ? whole : {};
}

function withoutEmpty(value: unknown): unknown {
  if (Array.isArray(value)) {
    const items = value.map(withoutEmpty).filter((item) => item !== undefined);
    const sorted = items.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
    return items.length === 0 ? undefined : sorted;
  }
  if (!isJsonObject(value)) return value === "" || value === false || value === 0 ? undefined : value;
  const entries = Object.entries(value).flatMap(([key, member]): readonly [string, unknown][] => {
    const kept = withoutEmpty(member);
    return kept === undefined ? [] : [[key, kept]];
  });
  return entries.length === 0 ? undefined : Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

function drainFindings({ states }: ClusterObjects): readonly MigrationFinding[] {
  const busy = [...states.values()].flatMap(({ metadata }) => {
    const answer = metadata.annotations?.[annotations.currentState] ?? drainAnswers.idle;
    return answer === drainAnswers.idle ? [] : [`${metadata.name} (${answer})`];
  });
  if (busy.length === 0) return [];
  const text =
    busy.length === 1
      ? `of ${busy.join()} is in progress. Switchyard continues it; on the way back, wait until it has ended.`
      : `of ${busy.join(", ")} are in progress. Switchyard continues them; on the way back, wait until they have ended.`;
  return [note(busy.length === 1 ? "A drain" : "Drains", text)];
}

function restarts({ manifests, namespace }: MigrationFacts): readonly string[] {
  const sets = manifests.filter(
    ({ kind, name, namespace: within }) =>
      kind === "DaemonSet" && (within ?? namespace) === namespace && components.includes(name),
  );
  return [
    ...operatorDeployments(manifests, namespace).map(({ name }) => `Deployment ${name}: the operator, once`),
    ...sets.map(({ name, object }) => {
      const pods = at(object, "status", "desiredNumberScheduled");
      const count = typeof pods === "number" ? pods : 0;
      return `DaemonSet ${name}: ${count === 1 ? "1 pod" : `${count} pods`}, a third of them at a time`;
    }),
  ];
}

function wayBack({ release, helmVersion, namespace }: MigrationFacts): string | undefined {
  const helm = parseVersion(helmVersion);
  if (release?.chart !== charts.upstream || helm === undefined) return undefined;
  // The command is for a shell, and Secrets are written by whoever may write them.
  if (![namespace, release.name, release.version].every((word) => /^[\w.+-]+$/.test(word))) return undefined;
  const server = helm.major >= 4 ? " --server-side=true --force-conflicts" : "";
  const chart = `oci://ghcr.io/k8snetworkplumbingwg/${charts.upstream} --version ${release.version}`;
  return (
    `helm -n ${namespace} upgrade ${release.name} ${chart} ` +
    `--reset-values -f upstream-values.yaml --take-ownership${server}`
  );
}
