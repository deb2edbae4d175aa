// SPDX-License-Identifier: Apache-2.0
/**
 * The secret path of the webhook while another program provides its certificate: cert-manager, OpenShift's service CA, or an
 * administrator. The operator does not read their Secrets. So the path comes from the uid of the operator's ClusterRole, and the pods get it
 * by an environment variable. It is registered once all pods know it, and then stays as it is registered.
 */
import { isReviewPath, reviewPathOf } from "@switchyard/certificates";
import { isRecord, recordAt, type KubeObject } from "@switchyard/kube";
import type { InventoryItem } from "@switchyard/render";
import type { Rollout } from "./rollout.ts";
import { isRegistration } from "./webhook-registrations.ts";

/** What the caches show of the components. */
interface DeployedObjects {
  readonly inventory: readonly InventoryItem[];
  seen(item: InventoryItem): DeployedObject | undefined;
}

interface DeployedObject {
  readonly rollout: Rollout | undefined;
  /** Result of reviewPathIn(). */
  readonly reviewPath?: string | undefined;
}

/** The path that pods get and the one that is registered. */
export interface ReviewPathSettings {
  readonly podPath: string | undefined;
  readonly secretPath: string | undefined;
}

const component = "operator-webhook";

/** `uid` is that of the ClusterRole; without it there is no path, unless one is registered. */
export function reviewPathSettings(objects: DeployedObjects, uid: string | undefined): ReviewPathSettings {
  const seen = objects.inventory
    .filter((item) => item.component === component)
    .map((item) => ({ kind: item.type.kind, object: objects.seen(item) }));
  const registered = seen.find(({ kind, object }) => isRegistration({ kind }) && object?.reviewPath)?.object
    ?.reviewPath;
  const podPath = registered ?? (uid === undefined ? undefined : reviewPathOf(uid));
  const pods = seen.find(({ kind }) => kind === "DaemonSet")?.object;
  return { podPath, secretPath: registered ?? (allPodsKnow(pods, podPath) ? podPath : undefined) };
}

function allPodsKnow(pods: DeployedObject | undefined, path: string | undefined): boolean {
  const { rollout, reviewPath } = pods ?? {};
  if (path === undefined || reviewPath !== path || rollout?.isCurrent !== true) return false;
  return rollout.updated >= rollout.desired && rollout.available >= rollout.desired;
}

/** Returns the secret path that the registration has, or that the pods of the DaemonSet get. */
export function reviewPathIn(object: KubeObject): string | undefined {
  const texts = object.kind === "DaemonSet" ? environmentOf(object) : pathsOf(object);
  return texts.find(isReviewPath);
}

function environmentOf(daemonSet: KubeObject): readonly string[] {
  const pod = recordAt(daemonSet, "spec", "template", "spec");
  return listAt(pod, "containers")
    .flatMap((container) => listAt(container, "env"))
    .flatMap(({ name, value }) => (name === "REVIEW_PATH" && typeof value === "string" ? [value] : []));
}

function pathsOf(registration: KubeObject): readonly string[] {
  if (!isRegistration(registration)) return [];
  return listAt(registration, "webhooks").flatMap((webhook) => {
    const { path } = recordAt(webhook, "clientConfig", "service");
    return typeof path === "string" ? [path.split("/")[1] ?? ""] : [];
  });
}

function listAt(value: object, key: string): readonly Readonly<Record<string, unknown>>[] {
  const list: unknown = isRecord(value) ? value[key] : undefined;
  return Array.isArray(list) ? list.filter(isRecord) : [];
}
