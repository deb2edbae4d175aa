// SPDX-License-Identifier: Apache-2.0
export {
  createCertificateKeeper,
  type CertificateKeeperOptions,
  type CertificateStore,
  issueCertificate,
  serviceNames,
} from "./certificate-keeper.ts";
export { defaultTimings, type CertificateTimings, type StoredCertificates } from "./certificate-state.ts";
export {
  watchCertificates,
  type CertificatePlaces,
  type CertificateWatches,
  type RegistrationName,
  type RegistrationWatch,
  type SeenRegistration,
  type SeenSecret,
  type WatchCertificatesOptions,
} from "./certificate-watches.ts";
export {
  CertificatesError,
  createCertificateStore,
  type CertificateStoreOptions,
  type KubeCertificateStore,
} from "./kube-certificate-store.ts";
export type { CertificateRequest, IssuedCertificate, KeyPair } from "./sign-certificate.ts";
export { registeredPath, type SecretData } from "./certificate-secret.ts";
export { isReviewPath, openPath, parseReviewPaths, reviewPathOf } from "./review-paths.ts";
