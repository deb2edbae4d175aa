// SPDX-License-Identifier: Apache-2.0
/** Kubernetes kinds that the operator deploys, restricted to the fields that are used. Pods are in pod-template.ts. */
import type { OwnerReference } from "@switchyard/api";
import type { Labels, PodTemplate } from "./pod-template.ts";

export interface DaemonSet extends Manifest {
  readonly apiVersion: "apps/v1";
  readonly kind: "DaemonSet";
  readonly spec: {
    readonly selector: { readonly matchLabels: Labels };
    readonly updateStrategy: {
      readonly type: "RollingUpdate";
      readonly rollingUpdate: { readonly maxUnavailable: string };
    };
    readonly template: PodTemplate;
  };
}

export interface Service extends Manifest {
  readonly apiVersion: "v1";
  readonly kind: "Service";
  readonly spec: {
    readonly selector: Labels;
    readonly ports: readonly {
      readonly name: string;
      readonly protocol: "TCP";
      readonly port: number;
      readonly targetPort: number;
    }[];
  };
}

export interface ServiceAccount extends Manifest {
  readonly apiVersion: "v1";
  readonly kind: "ServiceAccount";
}

export interface ConfigMap extends Manifest {
  readonly apiVersion: "v1";
  readonly kind: "ConfigMap";
  readonly data: Readonly<Record<string, string>>;
}

/** rbac.authorization.k8s.io/v1 PolicyRule. */
export interface RbacRule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}

export interface Role extends Manifest {
  readonly apiVersion: "rbac.authorization.k8s.io/v1";
  readonly kind: "Role" | "ClusterRole";
  readonly rules: readonly RbacRule[];
}

export interface RoleBinding extends Manifest {
  readonly apiVersion: "rbac.authorization.k8s.io/v1";
  readonly kind: "RoleBinding" | "ClusterRoleBinding";
  readonly roleRef: {
    readonly apiGroup: "rbac.authorization.k8s.io";
    readonly kind: Role["kind"];
    readonly name: string;
  };
  readonly subjects: readonly {
    readonly kind: "ServiceAccount";
    readonly name: string;
    readonly namespace: string;
  }[];
}

export interface NetworkPolicy extends Manifest {
  readonly apiVersion: "networking.k8s.io/v1";
  readonly kind: "NetworkPolicy";
  readonly spec: {
    readonly podSelector: { readonly matchLabels: Labels };
    readonly policyTypes: readonly ("Ingress" | "Egress")[];
    readonly ingress: readonly { readonly ports: readonly PolicyPort[] }[];
    readonly egress: readonly { readonly ports: readonly PolicyPort[] }[];
  };
}

interface PolicyPort {
  readonly protocol: "TCP";
  readonly port: number;
}

/** Requests that a webhook or an admission policy is called for (admissionregistration.k8s.io/v1). */
export interface RequestRule {
  readonly apiGroups: readonly string[];
  readonly apiVersions: readonly string[];
  readonly operations: readonly ("CREATE" | "UPDATE" | "DELETE")[];
  readonly resources: readonly string[];
  readonly scope: "Namespaced" | "Cluster" | "*";
}

/** A CEL expression with a name, which appears in error messages. */
export interface NamedExpression {
  readonly name: string;
  readonly expression: string;
}

export interface WebhookConfiguration extends Manifest {
  readonly apiVersion: "admissionregistration.k8s.io/v1";
  readonly kind: "MutatingWebhookConfiguration" | "ValidatingWebhookConfiguration";
  readonly webhooks: readonly Webhook[];
}

export interface Webhook {
  readonly name: string;
  readonly admissionReviewVersions: readonly string[];
  readonly sideEffects: "None";
  readonly failurePolicy: "Fail" | "Ignore";
  readonly timeoutSeconds: number;
  readonly matchConditions?: readonly NamedExpression[];
  readonly clientConfig: {
    readonly service: {
      readonly name: string;
      readonly namespace: string;
      readonly path: string;
      readonly port: number;
    };
    readonly caBundle?: string;
  };
  readonly rules: readonly RequestRule[];
}

export interface ValidatingAdmissionPolicy extends Manifest {
  readonly apiVersion: "admissionregistration.k8s.io/v1";
  readonly kind: "ValidatingAdmissionPolicy";
  readonly spec: {
    readonly failurePolicy: "Fail";
    readonly matchConstraints: {
      readonly resourceRules: readonly RequestRule[];
      readonly matchPolicy: "Equivalent";
      readonly namespaceSelector: Readonly<Record<string, never>>;
      readonly objectSelector: Readonly<Record<string, never>>;
    };
    readonly matchConditions: readonly NamedExpression[];
    readonly variables?: readonly NamedExpression[];
    readonly validations: readonly {
      readonly expression: string;
      readonly reason: "Forbidden";
      readonly messageExpression: string;
    }[];
  };
}

export interface ValidatingAdmissionPolicyBinding extends Manifest {
  readonly apiVersion: "admissionregistration.k8s.io/v1";
  readonly kind: "ValidatingAdmissionPolicyBinding";
  readonly spec: { readonly policyName: string; readonly validationActions: readonly "Deny"[] };
}

/**
 * Manifest is a Kubernetes object as the operator applies it, without the fields that the API server adds.
 * An object of any kind. The kinds in kube-objects.ts extend it.
 */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ManifestMetadata;
}

/** Metadata of an object. */
export interface ManifestMetadata {
  readonly name: string;
  /** Absent for cluster-scoped kinds. */
  readonly namespace?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly ownerReferences?: readonly OwnerReference[];
}
