//! TLS before a server that does not speak it.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;

use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio_rustls::TlsAcceptor;

/// The file of a certificate of these tests.
pub fn certificate(name: &str) -> PathBuf {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/process/environment/certificates");
    Path::new(folder).join(format!("{name}.pem"))
}

/// A listener that shows a certificate and passes on what it decrypts; it ends with the value.
pub struct Front {
    pub address: SocketAddr,
    over: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Front {
    /// Starts one that shows this certificate, before the server at that address of the loopback.
    pub fn start(shown: &str, server: SocketAddr) -> Front {
        let chain = CertificateDer::from_pem_file(certificate(shown)).unwrap();
        let key = certificate(shown).with_file_name("server.key");
        let key = PrivateKeyDer::from_pem_file(key).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![chain], key)
            .unwrap();
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap();
        let (over, ended) = oneshot::channel::<()>();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let thread = std::thread::spawn(move || {
            // What is under way ends with the runtime.
            runtime.block_on(async {
                tokio::select! {
                    () = listen(TcpListener::from_std(listener).unwrap(), acceptor, server) => {}
                    _ = ended => {}
                }
            });
        });
        Front { address, over: Some(over), thread: Some(thread) }
    }
}

impl Drop for Front {
    fn drop(&mut self) {
        drop(self.over.take());
        self.thread.take().unwrap().join().unwrap();
    }
}

async fn listen(listener: TcpListener, acceptor: TlsAcceptor, server: SocketAddr) {
    while let Ok((stream, _)) = listener.accept().await {
        let acceptor = acceptor.clone();
        tokio::spawn(async move {
            // A client that does not trust the certificate goes.
            let mut inside = acceptor.accept(stream).await?;
            let mut outside = TcpStream::connect(server).await?;
            tokio::io::copy_bidirectional(&mut inside, &mut outside).await
        });
    }
}
