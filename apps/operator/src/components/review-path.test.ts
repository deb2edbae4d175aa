// SPDX-License-Identifier: Apache-2.0
import { expect, it } from "@jest/globals";
import { reviewPathOf } from "@switchyard/certificates";
import type { KubeObject } from "@switchyard/kube";
import { toSeenObject, type ComponentObjects } from "./component-objects.ts";
import { reviewPathSettings } from "./review-path.ts";

const path = reviewPathOf("uid-1");
const metadata = { name: "operator-webhook", generation: 2 };

function daemonSet(value: string | undefined, updated: number): KubeObject {
  const env = value === undefined ? [] : [{ name: "REVIEW_PATH", value }];
  const spec = { template: { spec: { containers: [{ name: "webhook-server", env }] } } };
  const counts = { desiredNumberScheduled: 3, updatedNumberScheduled: updated, numberAvailable: 3 };
  return {
    apiVersion: "apps/v1",
    kind: "DaemonSet",
    metadata,
    ...{ spec, status: { observedGeneration: 2, ...counts } },
  };
}

function registration(segment: string): KubeObject {
  const clientConfig = { service: { path: `${segment}/validating-custom-resource` } };
  const kind = "ValidatingWebhookConfiguration";
  return {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind,
    metadata,
    ...{ webhooks: [{ name: "a", clientConfig }] },
  };
}

function settingsFor(objects: readonly KubeObject[], uid: string | undefined = "uid-1") {
  const inventory = objects.map(({ kind, metadata: { name } }) => {
    const type = { group: "", version: "v1", kind, plural: kind, namespaced: false };
    return { component: "operator-webhook", type, name, namespace: undefined };
  });
  const seen: ComponentObjects["seen"] = ({ type }) => {
    const found = objects.find(({ kind }) => kind === type.kind);
    return found && toSeenObject(found);
  };
  return reviewPathSettings({ inventory: inventory as never, seen }, uid);
}

it.each([
  { when: "nothing is deployed", objects: [], registered: undefined },
  { when: "the pods do not know it", objects: [daemonSet(undefined, 3), registration("")], registered: undefined },
  { when: "a pod of an earlier spec is left", objects: [daemonSet(path, 2), registration("")], registered: undefined },
  { when: "all pods know it", objects: [daemonSet(path, 3), registration("")], registered: path },
  { when: "all pods know it, and there is no registration", objects: [daemonSet(path, 3)], registered: path },
  {
    when: "it is registered and pods are replaced",
    objects: [daemonSet(path, 1), registration(`/${path}`)],
    registered: path,
  },
])("is given to the pods, and registered only once all of them know it: $when", ({ objects, registered }) => {
  expect(settingsFor(objects)).toEqual({ podPath: path, secretPath: registered });
});

it("stays as it is registered when the ClusterRole is created again", () => {
  const other = reviewPathOf("uid-0");
  expect(settingsFor([daemonSet(other, 3), registration(`/${other}`)])).toEqual({ podPath: other, secretPath: other });
});

it("does not exist without the ClusterRole", () => {
  const { podPath, secretPath } = reviewPathSettings({ inventory: [], seen: () => undefined }, undefined);
  expect([podPath, secretPath]).toEqual([undefined, undefined]);
});
