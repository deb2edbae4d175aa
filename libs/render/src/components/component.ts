// SPDX-License-Identifier: Apache-2.0
/**
 * Component describes a part of the product that the operator deploys or removes as a whole. The functions in this file
 * create the metadata of its objects.
 */
import { labels, type AfxdpOperatorConfig, type OwnerReference, type SriovOperatorConfig } from "@switchyard/api";
import type { ComponentImageName, ComponentSettings } from "./component-settings.ts";
import type { Manifest, ManifestMetadata } from "./objects/kube-objects.ts";
import type { ComponentName, ComponentProblem } from "./rendered-components.ts";

/** What components are rendered from. */
export interface ComponentInput {
  /** The SriovOperatorConfig "default". If it does not exist, what AF_XDP needs of it. */
  readonly config: SriovOperatorConfig;
  /** Whether the SriovOperatorConfig exists. */
  readonly hasSriov: boolean;
  /** The AfxdpOperatorConfig "default"; undefined if it does not exist. */
  readonly afxdp?: AfxdpOperatorConfig | undefined;
  readonly settings: ComponentSettings;
  /** The config with which namespaced objects are deleted; undefined if it has no uid. */
  readonly owner: OwnerReference | undefined;
}

/** A component. */
export interface Component {
  readonly name: ComponentName;
  /** Field of the SriovOperatorConfig that enables the component; absent if it is always deployed. */
  readonly field?: string;
  /** Reports whether the component is enabled. */
  readonly isWanted: (input: ComponentInput) => boolean;
  /** Images that it requires. */
  readonly needs: readonly ComponentImageName[];
  /** Returns its objects in the order in which they must be applied. Only called if it is enabled and has no error. */
  readonly render: (input: ComponentInput) => readonly Manifest[];
  /** Returns errors, because of which it cannot be deployed, and warnings. */
  readonly check?: (input: ComponentInput) => readonly Omit<ComponentProblem, "component">[];
}

/** Labels of all objects of a component, for `kubectl get -l`. */
function labelsOf(component: ComponentName): Readonly<Record<string, string>> {
  return { [labels.managedBy]: "switchyard-operator", "app.kubernetes.io/component": component };
}

/** Returns the metadata of an object in the operator's namespace. */
export function namespaced(component: ComponentName, name: string, input: ComponentInput): ManifestMetadata {
  const { owner, settings } = input;
  return {
    name,
    namespace: settings.namespace,
    labels: labelsOf(component),
    ...(owner && { ownerReferences: [owner] }),
  };
}

/** Returns the metadata of a cluster-scoped object. It has no owner, because the config is namespaced. */
export function clusterScoped(component: ComponentName, name: string): ManifestMetadata {
  return { name, labels: labelsOf(component) };
}

/** Adds annotations to the metadata, if there are any. */
export function annotated(metadata: ManifestMetadata, annotations: Readonly<Record<string, string>>): ManifestMetadata {
  return Object.keys(annotations).length === 0 ? metadata : { ...metadata, annotations };
}
