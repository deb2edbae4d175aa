// SPDX-License-Identifier: Apache-2.0
/** readRendered reads the facts of a rendered chart that upstream's chart and Switchyard's have in common. */
import { isRecord } from "@switchyard/kube";
import { readManifest } from "../../src/helm/helm.ts";
import { fieldAt } from "../../src/api/plain-api.ts";

/** What both charts have. */
export interface Rendered {
  readonly deployment: {
    readonly name: unknown;
    /** Names of the containers. When one chart replaces the other, Helm merges containers by their names. */
    readonly containers: readonly unknown[];
    readonly selector: unknown;
    readonly placement: Readonly<Record<string, unknown>>;
  };
  /** Variables of the operator: the value, or the name and key of a Secret. */
  readonly env: Readonly<Record<string, unknown>>;
  /** spec of the SriovOperatorConfig. */
  readonly config: Readonly<Record<string, unknown>> | undefined;
  /** Rows of the ConfigMap supported-nic-ids. */
  readonly nics: Readonly<Record<string, unknown>>;
  /** Certificates, Issuers and Secrets, by kind and name. */
  readonly certificates: Readonly<Record<string, unknown>>;
  /** All objects. */
  readonly objects: readonly Readonly<Record<string, unknown>>[];
}

/** Reads the output of `helm template`. */
export function readRendered(manifest: string): Rendered {
  const objects = readManifest(manifest);
  const ofKind = (kind: string) => objects.filter((object) => object["kind"] === kind);
  const deployment = ofKind("Deployment").find(
    (object) => fieldAt(object, "spec", "selector", "matchLabels", "name") === "sriov-network-operator",
  );
  const pod = fieldAt(deployment, "spec", "template", "spec");
  const config = fieldAt(ofKind("SriovOperatorConfig")[0], "spec");
  const nics = ofKind("ConfigMap").find((object) => fieldAt(object, "metadata", "name") === "supported-nic-ids");
  const data = fieldAt(nics, "data");
  const certificates = ["Certificate", "Issuer", "Secret"].flatMap((kind) =>
    ofKind(kind).map((object) => {
      const content = ["spec", "type", "data"].map((field) => [field, fieldAt(object, field)] as const);
      return [`${kind} ${String(fieldAt(object, "metadata", "name"))}`, Object.fromEntries(content)] as const;
    }),
  );
  const placement = ["nodeSelector", "tolerations", "affinity", "imagePullSecrets", "priorityClassName"];
  return {
    deployment: {
      name: fieldAt(deployment, "metadata", "name"),
      containers: listOf(fieldAt(pod, "containers")).map((container) => fieldAt(container, "name")),
      selector: fieldAt(deployment, "spec", "selector"),
      placement: Object.fromEntries(
        placement.flatMap((field) => {
          const value = fieldAt(pod, field);
          return isEmpty(value) ? [] : [[field, value] as const];
        }),
      ),
    },
    env: readEnv(fieldAt(pod, "containers", 0, "env")),
    config: isRecord(config) ? config : undefined,
    nics: isRecord(data) ? data : {},
    certificates: Object.fromEntries(certificates),
    objects,
  };
}

function readEnv(list: unknown): Readonly<Record<string, unknown>> {
  const pairs = (Array.isArray(list) ? list : []).filter(isRecord).map(({ name, value, valueFrom }) => {
    const secret = fieldAt(valueFrom, "secretKeyRef");
    const from = secret === undefined ? fieldAt(valueFrom, "fieldRef", "fieldPath") : secret;
    return [String(name), valueFrom === undefined ? (value ?? "") : from] as const;
  });
  return Object.fromEntries(pairs);
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || (isRecord(value) && Object.keys(value).length === 0);
}
