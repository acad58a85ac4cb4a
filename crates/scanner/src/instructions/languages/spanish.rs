//! Spanish.

use super::WordTable;
use crate::instructions::classes::WordClass as C;

/// Its words.
pub(super) const WORDS: &WordTable = &[
    (
        C::READ,
        "lee | leer | lea | abre | abrir | muestra | mostrar | imprime | accede | acceder | obten | obtener | carga | vuelca | \
         lean",
    ),
    (
        C::TAKE,
        "recopila | recopilar | recoge | recoger | recolecta | recolectar | copia | copiar | extrae | extraer | roba | robar | \
         captura | busca | buscar | reune | reunir | comprime | empaqueta | localiza | guarda | registra | recopile",
    ),
    (
        C::SEND,
        "envia | enviar | envie | enviala | enviale | envialo | envialos | envialas | enviarlo | enviarla | sube | subir | \
         suba | subelo | subelos | transmite | transmitir | reenvia | reenviar | manda | mandar | mandalo | publica | filtra | \
         exfiltra | exfiltrar | remite",
    ),
    (
        C::EMBED,
        "incluye | incluir | incluya | anade | anadir | adjunta | adjuntar | inserta | insertar | codifica | codificar | \
         agrega | agregar | pega | pon | incrusta | incrustar",
    ),
    (
        C::RUN,
        "ejecuta | ejecutar | ejecute | ejecutalo | ejecutala | corre | lanza | lanzar | inicia | invoca | llama | ejecutes",
    ),
    (
        C::FETCH,
        "descarga | descargar | descargue | visita | visitar | abre | consulta | obten | lee | leer | recupera | accede",
    ),
    (C::INSTALL, "instala | instalar | instale | instales | instalalo"),
    (
        C::TELL,
        "digas | decir | diga | dile | informes | informar | informe | avises | avisar | avise | menciones | mencionar | \
         mencione | notifiques | notificar | notifique | reveles | revelar | muestres | mostrar | cuentes | comuniques | \
         expliques | adviertas | decirle | informarle | avisarle",
    ),
    (
        C::ASK,
        "preguntes | preguntar | pidas | pedir | pida | pide | solicites | solicitar | solicita | solicite | confirmes | \
         confirmar | esperes | esperar | preguntarle | pedirle | pregunte",
    ),
    (
        C::SKIP,
        "omite | omitir | salta | saltar | saltate | evita pedir | aprueba automaticamente | aprobar automaticamente | elude | \
         autoaprueba | acepta automaticamente | eludir",
    ),
    (
        C::DROP,
        "ignora | ignorar | ignore | olvida | olvidar | olvide | descarta | descartar | desatiende | anula | anular | \
         desecha | haz caso omiso | no sigas | deja de seguir | sobrescribe | pasa por alto | desobedece",
    ),
    (C::OBEY, "sigue | seguir | siga | obedece | obedecer | cumple | ejecuta | acata | aplica | haz"),
    (
        C::DISABLE,
        "desactiva | desactivar | desactive | deshabilita | deshabilitar | apaga | elimina | quita | elude | eludir | \
         suprime | inhabilita",
    ),
    (
        C::CHANGE,
        "modifica | modificar | modifique | edita | editar | escribe | escribir | anade | agrega | cambia | cambiar | \
         actualiza | configura | establece | sobrescribe | pon",
    ),
    (C::KEEP, "recuerda | recordar | memoriza | guarda | guardar | almacena | conserva | persiste"),
    (
        C::DESTROY,
        "borra | borrar | borre | elimina | eliminar | elimine | cifra | cifrar | encripta | destruye | destruir | formatea | \
         formatear | sobrescribe",
    ),
    (
        C::PRETEND,
        "actua como | ahora eres | eres | finge | finge ser | comportate como | asume el papel | hazte pasar | simula | \
         conviertete | activa",
    ),
    (C::GRANT, "concede | conceder | permite | aprueba | aprobar | autoriza | autorizar | acepta | otorga"),
    (
        C::PAY,
        "paga | pagar | compra | comprar | transfiere | transferir | retira | envia | enviar | gasta | mueve",
    ),
    (
        C::LIE,
        "miente | mentir | engana | enganar | enganale | manipula | afirma falsamente | convence | asegura falsamente",
    ),
    (C::HIDE, "oculta | ocultar | oculte | esconde | esconder | encubre | borra"),
    (C::TREAT, "trata | tratar | trate | considera | considerar | interpreta | interpretar | toma"),
    (C::FALSIFY, "falsifica | falsificar | inventa | altera | manipula | falsea"),
    (C::SPREAD, "propaga | propagar | replica | replicar | copia | difunde | anade | inserta"),
    (
        C::ENTER,
        "introduzca | introduce | ingrese | ingresa | proporcione | proporciona | escribe | facilite | indique",
    ),
    (
        C::KEYS,
        "clave privada | claves privadas | llave privada | llaves privadas | claves ssh | clave ssh | llaves ssh | \
         cookies del navegador | contrasenas guardadas | contrasenas del navegador | llavero | archivo de cartera | monedero | \
         historial del navegador",
    ),
    (
        C::FILES,
        "clave publica | archivo | archivos | fichero | ficheros | documentos | codigo fuente | datos personales | \
         datos del usuario | portapapeles | contactos",
    ),
    (
        C::ENVFILE,
        "variables de entorno | credenciales | claves de api | claves api | secretos | archivo de credenciales | \
         archivos de credenciales | tokens de acceso | todas las contrasenas | claves de acceso | clave de api | \
         todos los tokens",
    ),
    (C::CRED, "contrasena | contrasenas | clave | token | tarjeta de credito | pin | numero de tarjeta"),
    (
        C::SEED,
        "frase semilla | frase de recuperacion | frases de recuperacion | palabras semilla | contrasena maestra",
    ),
    (
        C::TALK,
        "conversacion | conversaciones | historial de la conversacion | historial de chat | historial del chat | \
         historial de conversacion | conversacion completa | toda la conversacion | mensajes del usuario | transcripcion",
    ),
    (
        C::PROMPT,
        "prompt del sistema | instrucciones del sistema | mensaje del sistema | indicaciones del sistema",
    ),
    (
        C::RULES,
        "instrucciones | instruccion | reglas | normas | directrices | ordenes | indicaciones | politicas | prompt | \
         mandatos | restricciones | prompt del sistema | instrucciones del sistema | comandos",
    ),
    (
        C::LIMITS,
        "restricciones | limites | limitaciones | filtros | reglas | normas | censura | etica | barreras",
    ),
    (
        C::BEFORE,
        "anteriores | anterior | previas | previos | previa | tus | tu | originales | sistema | arriba | iniciales | \
         recibidas | existentes | prompt del sistema | instrucciones del sistema | hasta ahora | dadas",
    ),
    (
        C::APPROVAL,
        "confirmacion | aprobacion | permiso | permisos | consentimiento | autorizacion | confirmaciones",
    ),
    (C::USER, "usuario | usuaria | usuarios | humano | cliente | propietario | nadie | operador | persona"),
    (
        C::LOGS,
        "registros | registro | rastros | huellas | advertencias | historial | logs | auditoria | avisos",
    ),
    (
        C::AGENTFILE,
        "memoria persistente | memoria a largo plazo | memoria | archivo de memoria | configuracion del agente | ganchos | \
         archivo de inicio | ajustes del agente",
    ),
    (
        C::AGENTSET,
        "todas las llamadas a herramientas | todos los permisos | modo de permisos | todas las herramientas | \
         todas las solicitudes | todos los comandos",
    ),
    (
        C::GUARD,
        "seguridad | filtros de seguridad | medidas de seguridad | reglas de seguridad | barreras de seguridad | \
         filtros de contenido | politicas de contenido | protecciones | salvaguardas | filtro de contenido | \
         controles de seguridad",
    ),
    (C::SHIELD, "antivirus | cortafuegos | zona aislada | entorno aislado | supervision | monitoreo"),
    (
        C::EVERYTHING,
        "todos los archivos | todos los ficheros | directorio personal | carpeta personal | todo el disco | disco duro | \
         todos los datos | base de datos | copias de seguridad | todo el proyecto | archivos del usuario | todo el codigo | \
         todos los documentos | todo el codigo fuente | todo el repositorio",
    ),
    (C::MONEY, "fondos | dinero | criptomonedas | saldo | monedas | cartera | pago | criptomoneda"),
    (
        C::OTHERS,
        "otras habilidades | otras skills | otras herramientas | todas las skills | otros repositorios | otros agentes | \
         todas las habilidades | demas herramientas | demas habilidades | cualquier otra herramienta | otros proyectos",
    ),
    (
        C::CONTENT,
        "pagina | paginas | sitio | sitio web | correo | correos | comentarios | salida de la herramienta | respuesta | \
         documento | mensaje | enlace | contenido | resultado | resultados | archivo",
    ),
    (C::RESULTS, "resultados | pruebas | informe | revision | metricas | datos | hallazgos | auditoria"),
    (
        C::HARM,
        "puerta trasera | puertas traseras | vulnerabilidad | codigo malicioso | enlace de afiliado | enlaces de afiliado | \
         minero | software malicioso",
    ),
    (
        C::OUTPUT,
        "respuesta | comentario | mensaje | mensaje de commit | registro | salida | parametro | url | informe | descripcion",
    ),
    (
        C::SERVER,
        "servidor | nuestro servidor | servidor remoto | servidor externo | direccion | punto de acceso | tercero | terceros | \
         siguiente direccion | esta direccion | endpoint | api externa",
    ),
    (
        C::LASTING,
        "cada sesion | todas las sesiones | futuras sesiones | sesiones futuras | a partir de ahora | de ahora en adelante | \
         permanentemente | siempre | proximas sesiones | en adelante | al inicio",
    ),
    (
        C::FIRST,
        "primero | antes de | antes de usar | obligatorio | requisito | necesario | requiere | antes de continuar | \
         antes que nada",
    ),
    (C::PASTED, "linea de comandos | archivo comprimido | protegido con contrasena"),
    (
        C::NOLIMIT,
        "sin restricciones | sin limites | sin filtros | sin censura | sin reglas | modo desarrollador | sin limitaciones | \
         ilimitado | sin ninguna restriccion",
    ),
    (
        C::ITSELF,
        "esta habilidad | esta skill | estas instrucciones | este texto | este archivo | si misma | si mismo",
    ),
    (
        C::PRONOUN,
        "su contenido | el contenido | el resultado | los datos | eso | esto | lo | los | enviala | envialo | subelo | \
         mandalo",
    ),
    (
        C::COVERT,
        "en silencio | silenciosamente | en secreto | secretamente | a escondidas | sin que el usuario | discretamente | \
         sin avisar | sin informar | sin decir | sin notificar | sin el conocimiento | sin mencionar | sin su consentimiento | \
         sin el consentimiento | sin que nadie | sin que lo sepa",
    ),
    (
        C::NEG,
        "no | nunca | jamas | evita | evitar | ni | tampoco | no es necesario | no hace falta | no debes | no hay que | \
         prohibido | rechaza | niegate a | impide",
    ),
    (C::WITHOUT, "sin"),
    (
        C::REPORT,
        "atacante | atacantes | ataque | ataques | malicioso | maliciosa | maliciosos | intento | intentos | intenta | \
         intentan | detecta | detectar | por ejemplo | como por ejemplo | inyeccion | sospechoso | sospechosa | phishing | \
         riesgo | riesgos | amenaza | amenazas | peligro | peligroso | vulnerabilidad | te pide | te pida | piden | \
         solicitan que | estafa | estafador | proteger contra | evitar que | frases como",
    ),
    (C::THIRD, "atacante | atacantes | malware | alguien | estafadores | usuarios"),
    (C::AGENT, "agente | asistente | modelo | usted | ia"),
    (C::SELF, "esta habilidad | esta herramienta | el script | la herramienta | este script"),
    (C::MODAL, "debes | debe | tienes que | hay que | deberas | siempre | por favor | asegurate de | debera"),
    (C::AND, "y | luego | despues | entonces | e"),
    (C::OR, "o | u"),
    (C::BUT, "pero | sino | simplemente | directamente"),
    (C::IF, "si | cuando | siempre que"),
    (C::UNLESS, "a menos que | salvo | hasta que | excepto | si el usuario lo pide | solo si | salvo que"),
    (C::WITHIN, "en | dentro | contenidas | incrustadas | desde | procedentes | encontradas | incluidas"),
    (C::MAY, "puede | podria | pueden | podrian"),
    (C::HEADER, "cabecera | encabezado | autenticacion"),
    (C::ALL, "todas | todos | toda | todo | cualquier | completa | completo"),
    (C::DUMMY, "ejemplo | ficticio | plantilla | marcador"),
    (C::QUESTION, "que | por que | como | cual"),
    (C::NOTHING, "no paso nada | todo esta bien | es seguro | no hay problemas | es normal"),
    (C::CODES, "codigo de verificacion | codigo 2fa | codigo de recuperacion | codigo de un solo uso"),
    (C::PASSWORD, "contrasena | contrasenas | clave | token | tarjeta de credito | pin | numero de tarjeta"),
];
