/*
 * What servers of tests prove with TLS that they are `localhost`, `mail.example` and 127.0.0.1: signed by itself, valid for
 * a hundred years, and trusted by nobody who is not told to. The key protects nothing.
 */

export const certificate = `-----BEGIN CERTIFICATE-----
MIIBqDCCAU+gAwIBAgIUIAvaE3JrlFI66MUk8Fr19FlsJlYwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyMjE3NDAxMloYDzIxMjYxMDI5
MTc0MDEyWjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAASPLinZanLusZdAVtQBFF7v1Pd5Kge99Lg1FwCLKyIcK7B4GvznBlms
L5EsX3dB5ovyzp3684NF7WOzk0SzwONoo30wezAdBgNVHQ4EFgQU7oluOa9EQpkI
K3MzY8vpVaWfro4wHwYDVR0jBBgwFoAU7oluOa9EQpkIK3MzY8vpVaWfro4wDwYD
VR0TAQH/BAUwAwEB/zAoBgNVHREEITAfgglsb2NhbGhvc3SCDG1haWwuZXhhbXBs
ZYcEfwAAATAKBggqhkjOPQQDAgNHADBEAiANkN6qWEBUth3UyAhHgKgEUOcB9ep8
ChNBb9nywxKOtQIgfRUaRRXWISUgrsmuTLGx/KzKvZTVO/8xeV7rS2ZJiDY=
-----END CERTIFICATE-----`;

export const certificateKey = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgbsE6Ca+aw540axv+
AIyZkb7arpk+yt0OZYPSzQksRzqhRANCAASPLinZanLusZdAVtQBFF7v1Pd5Kge9
9Lg1FwCLKyIcK7B4GvznBlmsL5EsX3dB5ovyzp3684NF7WOzk0SzwONo
-----END PRIVATE KEY-----`;
