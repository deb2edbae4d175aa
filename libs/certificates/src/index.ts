// SPDX-License-Identifier: Apache-2.0
export { createCertificateKeeper, type CertificateKeeperOptions, type CertificateStore } from "./certificate-keeper.ts";
export { defaultTimings, type CertificateTimings, type StoredCertificates } from "./certificate-state.ts";
export { issueCertificate } from "./issue-certificate.ts";
export type { CertificateRequest, IssuedCertificate, KeyPair } from "./issued-certificate.ts";
export {
  openCertificateStore,
  type KubeCertificateStore,
  type KubeCertificateStoreOptions,
} from "./kube-certificate-store.ts";
