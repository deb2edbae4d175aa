// SPDX-License-Identifier: Apache-2.0
/**
 * CRDs of the OpenShift kinds that the operator reads or writes. They have no schema and accept any object.
 */
import { machineConfigPools, machineConfigs } from "@switchyard/api";
import type { ResourceType } from "@switchyard/api";

const configuration = { group: "config.openshift.io", version: "v1", namespaced: false } as const;

/** The kind APIServer of OpenShift's configuration, which has the TLS profile. */
const apiServers: ResourceType = { ...configuration, kind: "APIServer", plural: "apiservers" };

/** The kind Infrastructure of OpenShift's configuration. */
const infrastructures: ResourceType = { ...configuration, kind: "Infrastructure", plural: "infrastructures" };

/** The CRDs of these kinds. */
export const openshiftCrds = [machineConfigs, machineConfigPools, apiServers, infrastructures].map(
  ({ group, version, kind, plural }) => {
    const schema = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } };
    return {
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      metadata: { name: `${plural}.${group}` },
      spec: {
        ...{ group, names: { kind, plural }, scope: "Cluster" },
        versions: [{ name: version, served: true, storage: true, schema }],
      },
    };
  },
);
