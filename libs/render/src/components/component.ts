// SPDX-License-Identifier: Apache-2.0
/** What a part that the operator deploys consists of, and what all parts say of their objects. */
import { apiVersion, operatorConfigName, type SriovOperatorConfig } from "@switchyard/api";
import type { ComponentImageName, ComponentSettings } from "./component-settings.ts";
import type { Manifest, ManifestMetadata } from "./objects/manifest.ts";
import type { ComponentName, ComponentProblem } from "./rendered-components.ts";

export interface ComponentInput {
  readonly config: SriovOperatorConfig;
  readonly settings: ComponentSettings;
}

export interface Component {
  readonly name: ComponentName;
  /** The field that asks for it; absent where nobody has to. */
  readonly field?: string;
  /** Whether it is to be there. */
  readonly isWanted: (input: ComponentInput) => boolean;
  /** Images that it cannot be without. */
  readonly needs: readonly ComponentImageName[];
  /** In the order in which they are to be applied. Called only if it is wanted and has what it needs. */
  readonly render: (input: ComponentInput) => readonly Manifest[];
  /** What is wrong, so that it is not rendered, and what is not as the user may think. */
  readonly check?: (input: ComponentInput) => readonly Omit<ComponentProblem, "component">[];
}

/** Labels of all objects, so that `kubectl get -l` finds them. */
function labelsOf(component: ComponentName): Readonly<Record<string, string>> {
  return { "app.kubernetes.io/managed-by": "switchyard-operator", "app.kubernetes.io/component": component };
}

/** Of an object in the operator's namespace. It goes with the config, once that has been stored. */
export function namespaced(component: ComponentName, name: string, input: ComponentInput): ManifestMetadata {
  const { uid } = input.config.metadata;
  const owner = { apiVersion, kind: "SriovOperatorConfig", name: operatorConfigName };
  return {
    name,
    namespace: input.settings.namespace,
    labels: labelsOf(component),
    ...(uid === undefined ? {} : { ownerReferences: [{ ...owner, uid, controller: true, blockOwnerDeletion: true }] }),
  };
}

/** Of an object without a namespace, which a namespaced config cannot own. */
export function clusterScoped(component: ComponentName, name: string): ManifestMetadata {
  return { name, labels: labelsOf(component) };
}

/** With annotations, where there are any. */
export function annotated(metadata: ManifestMetadata, annotations: Readonly<Record<string, string>>): ManifestMetadata {
  return Object.keys(annotations).length === 0 ? metadata : { ...metadata, annotations };
}
