// SPDX-License-Identifier: Apache-2.0
/**
 * bpfmanCrds returns CustomResourceDefinitions for the kinds of bpfman that the operator uses. bpfman's own are in no package
 * registry; these have the fields and rules that matter here (eve-and-afxdp.md b5).
 * Usage: `await cluster.applyCrds(bpfmanCrds("0.6"));`
 */
import {
  bpfPrograms,
  clusterBpfApplications,
  clusterBpfApplicationStates,
  xdpPrograms,
  type ObjectMeta,
  type ResourceType,
} from "@switchyard/api";

/** The releases of bpfman whose kinds differ. */
export type BpfmanVersion = "0.5" | "0.6";

const anything = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
const text = { type: "string" };
const selector = { type: "object", properties: { matchLabels: { type: "object", additionalProperties: text } } };
const secret = { type: "object", required: ["name", "namespace"], properties: { name: text, namespace: text } };
const priority = { type: "integer", minimum: 0, maximum: 1000 };
const exactlyOne = [{ rule: "has(self.image) != has(self.path)", message: "exactly one of image and path" }];
const oneOfTwo = { minProperties: 1, maxProperties: 1 };
const path = { type: "string", pattern: "^(/[^/\\0]+)+/?$" };

const application = {
  type: "object",
  required: ["nodeSelector", "byteCode"],
  properties: {
    nodeSelector: selector,
    byteCode: {
      type: "object",
      "x-kubernetes-validations": exactlyOne,
      properties: {
        path,
        image: {
          type: "object",
          required: ["url"],
          properties: {
            url: { type: "string", maxLength: 525 },
            imagePullPolicy: { type: "string", enum: ["Always", "Never", "IfNotPresent"], default: "IfNotPresent" },
            imagePullSecret: secret,
          },
        },
      },
    },
    programs: {
      type: "array",
      items: {
        type: "object",
        required: ["name", "type"],
        properties: {
          name: { type: "string", pattern: "^[a-zA-Z][a-zA-Z0-9_]+.", maxLength: 64 },
          type: { type: "string", enum: ["XDP", "TC", "TCX"] },
          xdp: {
            type: "object",
            properties: {
              links: {
                type: "array",
                items: {
                  type: "object",
                  required: ["interfaceSelector"],
                  properties: {
                    interfaceSelector: {
                      type: "object",
                      ...oneOfTwo,
                      properties: {
                        interfaces: { type: "array", items: text },
                        primaryNodeInterface: { type: "boolean" },
                      },
                    },
                    priority: { ...priority, default: 1000 },
                    proceedOn: {
                      type: "array",
                      default: ["Pass", "DispatcherReturn"],
                      items: {
                        type: "string",
                        enum: ["Aborted", "Drop", "Pass", "TX", "ReDirect", "DispatcherReturn"],
                      },
                    },
                  },
                },
              },
            },
          },
        },
        "x-kubernetes-validations": [
          {
            rule: "has(self.type) && self.type == 'XDP' ? has(self.xdp) : !has(self.xdp)",
            message: "xdp configuration is required when type is xdp, and forbidden otherwise",
          },
        ],
      },
    },
  },
};

const xdpProgram = {
  type: "object",
  required: ["bpffunctionname", "nodeselector", "bytecode", "interfaceselector", "priority"],
  properties: {
    bpffunctionname: text,
    nodeselector: selector,
    bytecode: {
      type: "object",
      "x-kubernetes-validations": exactlyOne,
      properties: {
        path: text,
        image: {
          type: "object",
          required: ["url"],
          properties: {
            url: text,
            imagepullpolicy: { type: "string", enum: ["Always", "Never", "IfNotPresent"], default: "IfNotPresent" },
            imagepullsecret: secret,
          },
        },
      },
    },
    interfaceselector: {
      type: "object",
      ...oneOfTwo,
      properties: { interfaces: { type: "array", items: text }, primarynodeinterface: { type: "boolean" } },
    },
    priority,
    proceedon: {
      type: "array",
      default: ["pass", "dispatcher_return"],
      items: { type: "string", enum: ["aborted", "drop", "pass", "tx", "redirect", "dispatcher_return"] },
    },
  },
};

/** Returns the kinds of the release, with the schema of their spec. */
export function bpfmanTypes(version: BpfmanVersion): readonly (readonly [ResourceType, object])[] {
  return version === "0.6"
    ? [
        [clusterBpfApplications, application],
        [clusterBpfApplicationStates, anything],
      ]
    : [
        [xdpPrograms, xdpProgram],
        [bpfPrograms, anything],
      ];
}

/** Returns the CustomResourceDefinitions. */
export function bpfmanCrds(version: BpfmanVersion): readonly { readonly metadata: ObjectMeta }[] {
  return bpfmanTypes(version).map(([{ group, version: apiVersion, kind, plural }, spec]) => ({
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: "Cluster",
      names: { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` },
      versions: [
        {
          name: apiVersion,
          served: true,
          storage: true,
          subresources: { status: {} },
          schema: { openAPIV3Schema: { type: "object", properties: { spec, status: anything } } },
        },
      ],
    },
  }));
}
