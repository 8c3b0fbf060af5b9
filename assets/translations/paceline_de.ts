<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="de" sourcelanguage="en">
<context>
    <name>AnswerBody</name>
    <message>
        <source>Answer text</source>
        <translation>Antworttext</translation>
    </message>
</context>
<context>
    <name>AnswerCard</name>
    <message>
        <source>Reading the prompt</source>
        <translation>Die Eingabe wird gelesen</translation>
    </message>
    <message>
        <source>Copy answer</source>
        <translation>Antwort kopieren</translation>
    </message>
    <message>
        <source>Copied</source>
        <translation>Kopiert</translation>
    </message>
    <message>
        <source>Regenerate this answer</source>
        <translation>Diese Antwort neu erzeugen</translation>
    </message>
    <message>
        <source>Reading the prompt · {done} of {total} tokens</source>
        <translation>Die Eingabe wird gelesen · {done} von {total} Token</translation>
    </message>
    <message>
        <source>Writing a tool call</source>
        <translation>Ein Werkzeugaufruf wird geschrieben</translation>
    </message>
    <message>
        <source>Starting the tool servers</source>
        <translation>Die Werkzeugserver werden gestartet</translation>
    </message>
    <message>
        <source>Waiting for the answer in “{chat}”</source>
        <translation>Wartet auf die Antwort in „{chat}“</translation>
    </message>
    <message>
        <source>Another program&apos;s request is being answered; yours is next.</source>
        <translation>Die Anfrage eines anderen Programms wird beantwortet; Ihre ist die nächste.</translation>
    </message>
    <message>
        <source>Preparing your model</source>
        <translation>Ihr Modell wird vorbereitet</translation>
    </message>
    <message>
        <source>Loading your model again · {percent}</source>
        <translation>Ihr Modell wird wieder geladen · {percent}</translation>
    </message>
    <message>
        <source> Continue</source>
        <translation> Fortsetzen</translation>
    </message>
    <message>
        <source>Continue this answer</source>
        <translation>Diese Antwort fortsetzen</translation>
    </message>
    <message>
        <source>Continue the answer where it was cut off</source>
        <translation>Setzt die Antwort dort fort, wo sie abgebrochen ist</translation>
    </message>
    <message numerus="yes">
        <source>Waiting for the answers in %n other chats</source>
        <translation>
            <numerusform>Wartet auf die Antwort in einem anderen Chat</numerusform>
            <numerusform>Wartet auf die Antworten in %n anderen Chats</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>AnswerController</name>
    <message numerus="yes">
        <source>The context is full: the %n oldest messages were left out.</source>
        <translation>
            <numerusform>Der Kontext ist voll: Die älteste Nachricht wurde weggelassen.</numerusform>
            <numerusform>Der Kontext ist voll: Die %n ältesten Nachrichten wurden weggelassen.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>The context is full: %n earlier questions without an answer were left out.</source>
        <translation>
            <numerusform>Der Kontext ist voll: Eine frühere Frage ohne Antwort wurde weggelassen.</numerusform>
            <numerusform>Der Kontext ist voll: %n frühere Fragen ohne Antwort wurden weggelassen.</numerusform>
        </translation>
    </message>
    <message>
        <source>The model gave an empty answer. Ask again, or rephrase the question.</source>
        <translation>Die Antwort des Modells war leer. Fragen Sie noch einmal, oder formulieren Sie die Frage um.</translation>
    </message>
    <message>
        <source>This chat is still writing an answer. Wait for it, or stop it.</source>
        <translation>In diesem Chat wird noch eine Antwort geschrieben. Warten Sie, oder stoppen Sie sie.</translation>
    </message>
    <message>
        <source>A race is using the model. Wait until it is over, or stop it.</source>
        <translation>Ein Rennen belegt das Modell. Warten Sie, bis es vorbei ist, oder stoppen Sie es.</translation>
    </message>
    <message>
        <source>Stopped at the maximum length set in the settings.</source>
        <translation>Beendet: Die in den Einstellungen festgelegte Höchstlänge ist erreicht.</translation>
    </message>
    <message>
        <source>Stopped because the model repeated itself. A repeat penalty helps: see Chat settings.</source>
        <translation>Beendet, weil das Modell sich wiederholt hat. Eine Wiederholungsstrafe hilft: siehe Chat-Einstellungen.</translation>
    </message>
    <message>
        <source>Stopped because the context is full. Continue leaves out the oldest messages.</source>
        <translation>Beendet, weil der Kontext voll ist. „Fortsetzen“ lässt die ältesten Nachrichten weg.</translation>
    </message>
    <message>
        <source>Stopped because the context is full. Continue summarises the oldest messages first.</source>
        <translation>Beendet, weil der Kontext voll ist. „Fortsetzen“ fasst zuerst die ältesten Nachrichten zusammen.</translation>
    </message>
    <message>
        <source>Stopped because the context is full. To continue, have the oldest messages left out or summarised (at the context meter), or choose a larger context in the settings.</source>
        <translation>Beendet, weil der Kontext voll ist. Um fortzusetzen, lassen Sie an der Kontextanzeige die ältesten Nachrichten weglassen oder zusammenfassen, oder wählen Sie in den Einstellungen einen größeren Kontext.</translation>
    </message>
    <message>
        <source>Chats cannot be saved. This chat is kept only until Paceline is closed.</source>
        <translation>Die Chats können nicht gespeichert werden. Dieser Chat bleibt nur erhalten, bis Paceline geschlossen wird.</translation>
    </message>
    <message>
        <source>Stopped: this question alone fills the context. To continue, choose a larger context in the settings.</source>
        <translation>Beendet: Schon diese Frage füllt den Kontext. Um fortzufahren, wählen Sie in den Einstellungen einen größeren Kontext.</translation>
    </message>
    <message>
        <source>Only the last answer can be continued, if it was cut off.</source>
        <translation>Nur die letzte Antwort kann fortgesetzt werden, wenn sie abgebrochen wurde.</translation>
    </message>
</context>
<context>
    <name>AnswerSpeech</name>
    <message>
        <source>{tool} waits for your permission.</source>
        <translation>{tool} wartet auf Ihre Erlaubnis.</translation>
    </message>
    <message>
        <source>{tool} is running.</source>
        <translation>{tool} läuft.</translation>
    </message>
    <message>
        <source>{tool} is done.</source>
        <translation>{tool} ist fertig.</translation>
    </message>
    <message>
        <source>{tool} has failed.</source>
        <translation>{tool} ist fehlgeschlagen.</translation>
    </message>
    <message>
        <source>Reading the prompt.</source>
        <translation>Die Eingabe wird gelesen.</translation>
    </message>
    <message>
        <source>The answer begins.</source>
        <translation>Die Antwort beginnt.</translation>
    </message>
</context>
<context>
    <name>AttachmentDialog</name>
    <message>
        <source>Attach files</source>
        <translation>Dateien anhängen</translation>
    </message>
    <message>
        <source>All files</source>
        <translation>Alle Dateien</translation>
    </message>
    <message>
        <source>Text, code, tables, PDF and pictures</source>
        <translation>Text, Code, Tabellen, PDF und Bilder</translation>
    </message>
</context>
<context>
    <name>AttachmentReader</name>
    <message>
        <source>Text of {name}</source>
        <translation>Text von {name}</translation>
    </message>
    <message>
        <source>Copy all</source>
        <translation>Alles kopieren</translation>
    </message>
    <message>
        <source>Showing the first {shown} of {all} characters; the model gets all of them</source>
        <translation>Angezeigt: die ersten {shown} von {all} Zeichen; das Modell erhält alle</translation>
    </message>
</context>
<context>
    <name>Attachments</name>
    <message>
        <source>Pasted picture</source>
        <translation>Eingefügtes Bild</translation>
    </message>
    <message>
        <source>reading</source>
        <translation>wird gelesen</translation>
    </message>
    <message>
        <source>this model cannot see it</source>
        <translation>dieses Modell kann es nicht sehen</translation>
    </message>
    <message>
        <source>Pasted text</source>
        <translation>Eingefügter Text</translation>
    </message>
    <message>
        <source>Text</source>
        <translation>Text</translation>
    </message>
    <message>
        <source>Code</source>
        <translation>Code</translation>
    </message>
    <message>
        <source>Markdown</source>
        <translation>Markdown</translation>
    </message>
    <message>
        <source>CSV</source>
        <translation>CSV</translation>
    </message>
    <message>
        <source>PDF</source>
        <translation>PDF</translation>
    </message>
    <message>
        <source>Document</source>
        <translation>Dokument</translation>
    </message>
    <message>
        <source>Found for this question</source>
        <translation>Zu dieser Frage gefunden</translation>
    </message>
    <message>
        <source>Passages of your files</source>
        <translation>Stellen aus Ihren Dateien</translation>
    </message>
    <message numerus="yes">
        <source>about {count} tokens</source>
        <translation>
            <numerusform>etwa {count} Token</numerusform>
            <numerusform>etwa {count} Token</numerusform>
        </translation>
    </message>
    <message>
        <source>Picture</source>
        <translation>Bild</translation>
    </message>
    <message>
        <source>Remove {name}</source>
        <translation>{name} entfernen</translation>
    </message>
    <message>
        <source>This model cannot see pictures. It only gets their names.</source>
        <translation>Dieses Modell kann keine Bilder sehen. Es bekommt nur ihre Namen.</translation>
    </message>
    <message>
        <source>Press Enter to open it.</source>
        <translation>Die Eingabetaste öffnet es zum Lesen.</translation>
    </message>
    <message>
        <source>Press Enter to open it, Delete to remove it.</source>
        <translation>Die Eingabetaste öffnet es zum Lesen, Entf entfernt es.</translation>
    </message>
    <message>
        <source>Attachments</source>
        <translation>Anhänge</translation>
    </message>
</context>
<context>
    <name>Banner</name>
    <message>
        <source>Dismiss</source>
        <translation>Ausblenden</translation>
    </message>
    <message>
        <source>Take the suggestion</source>
        <translation>Vorschlag annehmen</translation>
    </message>
    <message>
        <source>Notice</source>
        <translation>Hinweis</translation>
    </message>
</context>
<context>
    <name>BranchController</name>
    <message>
        <source>Edited by you.</source>
        <translation>Von Ihnen bearbeitet.</translation>
    </message>
    <message>
        <source>This chat is a copy up to here. The other chat has not changed.</source>
        <translation>Dieser Chat ist eine Kopie bis hierher. Der andere Chat ist unverändert.</translation>
    </message>
</context>
<context>
    <name>Catalog</name>
    <message>
        <source>short questions and rewriting on a computer with few cores</source>
        <translation>kurze Fragen und Umformulieren auf einem Rechner mit wenigen Kernen</translation>
    </message>
    <message>
        <source>everyday questions and code on a laptop with 12 GB of memory</source>
        <translation>alltägliche Fragen und Code auf einem Laptop mit 12 GB Speicher</translation>
    </message>
    <message>
        <source>prose and questions in many languages with 16 GB of memory</source>
        <translation>Prosa und Fragen in vielen Sprachen mit 16 GB Speicher</translation>
    </message>
    <message>
        <source>everyday questions in European languages with 16 GB of memory</source>
        <translation>alltägliche Fragen in europäischen Sprachen mit 16 GB Speicher</translation>
    </message>
    <message>
        <source>reasoning with 16 GB of memory; fast even without a large GPU</source>
        <translation>Schlussfolgern mit 16 GB Speicher; auch ohne große GPU schnell</translation>
    </message>
    <message>
        <source>prose in many languages with 24 GB of memory; fast even without a large GPU</source>
        <translation>Prosa in vielen Sprachen mit 24 GB Speicher; auch ohne große GPU schnell</translation>
    </message>
    <message>
        <source>reasoning and code with 32 GB of memory; fast even without a large GPU</source>
        <translation>Schlussfolgern und Code mit 32 GB Speicher; auch ohne große GPU schnell</translation>
    </message>
    <message>
        <source>careful answers and code with 24 GB of memory</source>
        <translation>sorgfältige Antworten und Code mit 24 GB Speicher</translation>
    </message>
    <message>
        <source>code and long tasks with 24 GB of memory; a mixture of experts</source>
        <translation>Code und lange Aufgaben mit 24 GB Speicher; ein Mixture-of-Experts-Modell (MoE)</translation>
    </message>
    <message>
        <source>careful prose in many languages with 32 GB of memory</source>
        <translation>sorgfältige Prosa in vielen Sprachen mit 32 GB Speicher</translation>
    </message>
    <message>
        <source>code on a laptop; much of it is predictable, so drafting works well</source>
        <translation>Code auf einem Laptop; vieles daran ist vorhersehbar, Entwürfe bringen also viel</translation>
    </message>
    <message>
        <source>reasoning on computers that are too slow for an 8B model</source>
        <translation>Schlussfolgern auf Rechnern, die für ein 8B-Modell zu langsam sind</translation>
    </message>
    <message>
        <source>everyday questions on a laptop with 8 GB of memory; it thinks, and has its own draft heads</source>
        <translation>alltägliche Fragen auf einem Laptop mit 8 GB Speicher; es denkt nach und hat eigene Entwurfsköpfe</translation>
    </message>
    <message>
        <source>everyday chat in many languages on computers that are too slow for a 7B model</source>
        <translation>alltägliche Gespräche in vielen Sprachen auf Rechnern, die für ein 7B-Modell zu langsam sind</translation>
    </message>
    <message>
        <source>reasoning on a laptop; it thinks at length, and drafting shortens the wait</source>
        <translation>Schlussfolgern auf einem Laptop; es denkt lange nach, und Entwürfe verkürzen das Warten</translation>
    </message>
    <message>
        <source>everyday chat and summaries</source>
        <translation>alltägliche Chats und Zusammenfassungen</translation>
    </message>
    <message>
        <source>code with 16 GB of memory</source>
        <translation>Code mit 16 GB Speicher</translation>
    </message>
    <message>
        <source>reasoning with 16 GB of memory</source>
        <translation>Schlussfolgern mit 16 GB Speicher</translation>
    </message>
    <message>
        <source>prose in many languages with 16 GB of memory</source>
        <translation>Prosa in vielen Sprachen mit 16 GB Speicher</translation>
    </message>
    <message>
        <source>careful answers and code with 24 GB of memory; it thinks, and has its own draft heads</source>
        <translation>sorgfältige Antworten und Code mit 24 GB Speicher; es denkt nach und hat eigene Entwurfsköpfe</translation>
    </message>
    <message>
        <source>code with 32 GB of memory</source>
        <translation>Code mit 32 GB Speicher</translation>
    </message>
    <message>
        <source>reasoning with 32 GB of memory</source>
        <translation>Schlussfolgern mit 32 GB Speicher</translation>
    </message>
    <message>
        <source>prose in many languages with 24 GB of memory</source>
        <translation>Prosa in vielen Sprachen mit 24 GB Speicher</translation>
    </message>
    <message>
        <source>careful answers with 64 GB of memory</source>
        <translation>sorgfältige Antworten mit 64 GB Speicher</translation>
    </message>
</context>
<context>
    <name>ChatFiles</name>
    <message>
        <source>Markdown (*.md)</source>
        <translation>Markdown (*.md)</translation>
    </message>
    <message>
        <source>Zip of Markdown files (*.zip)</source>
        <translation>ZIP mit Markdown-Dateien (*.zip)</translation>
    </message>
    <message>
        <source>JSON (*.json)</source>
        <translation>JSON (*.json)</translation>
    </message>
    <message>
        <source>Export the project</source>
        <translation>Projekt exportieren</translation>
    </message>
    <message>
        <source>Import chats from Paceline, ChatGPT or LM Studio, or a project</source>
        <translation>Chats aus Paceline, ChatGPT oder LM Studio oder ein Projekt importieren</translation>
    </message>
    <message>
        <source>Exports (*.json *.zip);;All files (*)</source>
        <translation>Exporte (*.json *.zip);;Alle Dateien (*)</translation>
    </message>
    <message>
        <source>Project (*.zip)</source>
        <translation>Projekt (*.zip)</translation>
    </message>
    <message>
        <source>Export chats</source>
        <translation>Chats exportieren</translation>
    </message>
</context>
<context>
    <name>ChatSettings</name>
    <message>
        <source>This chat</source>
        <translation>Dieser Chat</translation>
    </message>
    <message>
        <source>This model</source>
        <translation>Dieses Modell</translation>
    </message>
    <message>
        <source>All chats</source>
        <translation>Alle Chats</translation>
    </message>
    <message>
        <source>For every chat with {model} that does not set its own value.</source>
        <translation>Für jeden Chat mit {model}, der keinen eigenen Wert hat.</translation>
    </message>
    <message>
        <source>For every chat, unless the chat or its model sets its own value.</source>
        <translation>Für jeden Chat, sofern nicht der Chat oder sein Modell einen eigenen Wert hat.</translation>
    </message>
    <message>
        <source>Chat settings</source>
        <translation>Chat-Einstellungen</translation>
    </message>
    <message>
        <source>Only for this chat. Anything not set here comes from the model or the settings.</source>
        <translation>Nur für diesen Chat. Was hier nicht festgelegt ist, kommt vom Modell oder aus den Einstellungen.</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Schließen</translation>
    </message>
    <message>
        <source>Applies to</source>
        <translation>Gilt für</translation>
    </message>
    <message>
        <source>Values</source>
        <translation>Werte</translation>
    </message>
    <message>
        <source>this model</source>
        <translation>dieses Modell</translation>
    </message>
    <message>
        <source>Reset all</source>
        <translation>Alle zurücksetzen</translation>
    </message>
    <message>
        <source>Reset all values of: {layer}</source>
        <translation>Alle Werte zurücksetzen: {layer}</translation>
    </message>
    <message>
        <source>this chat</source>
        <translation>dieser Chat</translation>
    </message>
    <message>
        <source>This project</source>
        <translation>Dieses Projekt</translation>
    </message>
    <message>
        <source>For every chat in {project} that does not set its own value.</source>
        <translation>Für jeden Chat in {project}, der keinen eigenen Wert hat.</translation>
    </message>
    <message>
        <source>from the project</source>
        <translation>vom Projekt</translation>
    </message>
    <message>
        <source>from the model</source>
        <translation>vom Modell</translation>
    </message>
    <message>
        <source>from the settings</source>
        <translation>aus den Einstellungen</translation>
    </message>
    <message>
        <source>recommended for this model</source>
        <translation>für dieses Modell empfohlen</translation>
    </message>
    <message>
        <source>default</source>
        <translation>Standard</translation>
    </message>
    <message>
        <source>this project</source>
        <translation>dieses Projekt</translation>
    </message>
    <message>
        <source>set for all</source>
        <translation>für alle festgelegt</translation>
    </message>
    <message>
        <source>overridden by this chat</source>
        <translation>von diesem Chat überschrieben</translation>
    </message>
    <message>
        <source>overridden by the project</source>
        <translation>vom Projekt überschrieben</translation>
    </message>
    <message>
        <source>overridden by the model</source>
        <translation>vom Modell überschrieben</translation>
    </message>
    <message>
        <source>Reset</source>
        <translation>Zurücksetzen</translation>
    </message>
    <message>
        <source>Reset {label}</source>
        <translation>{label} zurücksetzen</translation>
    </message>
    <message>
        <source>{label}: {origin}</source>
        <translation>{label}: {origin}</translation>
    </message>
    <message numerus="yes">
        <source>%n values set for this chat</source>
        <translation>
            <numerusform>%n Wert für diesen Chat festgelegt</numerusform>
            <numerusform>%n Werte für diesen Chat festgelegt</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>CodeBlock</name>
    <message>
        <source>Copy code</source>
        <translation>Code kopieren</translation>
    </message>
    <message>
        <source>Copy</source>
        <translation>Kopieren</translation>
    </message>
    <message>
        <source>Wrap long lines</source>
        <translation>Lange Zeilen umbrechen</translation>
    </message>
    <message>
        <source>{language}: the diagram is not drawn, this is its text</source>
        <translation>{language}: Das Diagramm wird nicht gezeichnet, dies ist sein Text</translation>
    </message>
    <message>
        <source>Code, {language}</source>
        <translation>Code, {language}</translation>
    </message>
    <message>
        <source>Code</source>
        <translation>Code</translation>
    </message>
    <message>
        <source>Copied</source>
        <translation>Kopiert</translation>
    </message>
</context>
<context>
    <name>CodeView</name>
    <message>
        <source>Code</source>
        <translation>Code</translation>
    </message>
</context>
<context>
    <name>Commands</name>
    <message>
        <source>Chats</source>
        <translation>Chats</translation>
    </message>
    <message>
        <source>Window</source>
        <translation>Fenster</translation>
    </message>
    <message>
        <source>This chat</source>
        <translation>Dieser Chat</translation>
    </message>
    <message>
        <source>Chat</source>
        <translation>Chat</translation>
    </message>
    <message>
        <source>Help</source>
        <translation>Hilfe</translation>
    </message>
    <message>
        <source>Edit</source>
        <translation>Bearbeiten</translation>
    </message>
    <message>
        <source>Undo</source>
        <translation>Rückgängig</translation>
    </message>
    <message>
        <source>Redo</source>
        <translation>Wiederholen</translation>
    </message>
    <message>
        <source>Cut</source>
        <translation>Ausschneiden</translation>
    </message>
    <message>
        <source>Copy</source>
        <translation>Kopieren</translation>
    </message>
    <message>
        <source>Paste</source>
        <translation>Einfügen</translation>
    </message>
    <message>
        <source>Select all</source>
        <translation>Alles auswählen</translation>
    </message>
    <message>
        <source>Edit the last question</source>
        <translation>Letzte Frage bearbeiten</translation>
    </message>
    <message>
        <source>Regenerate the last answer</source>
        <translation>Letzte Antwort neu erzeugen</translation>
    </message>
    <message>
        <source>Continue a cut-off answer</source>
        <translation>Abgebrochene Antwort fortsetzen</translation>
    </message>
    <message>
        <source>Previous version of a message</source>
        <translation>Vorige Fassung einer Nachricht</translation>
    </message>
    <message>
        <source>Next version of a message</source>
        <translation>Nächste Fassung einer Nachricht</translation>
    </message>
    <message>
        <source>Send the message</source>
        <translation>Nachricht senden</translation>
    </message>
    <message>
        <source>New line</source>
        <translation>Zeilenumbruch</translation>
    </message>
    <message>
        <source>Attach files to the message</source>
        <translation>Dateien an die Nachricht anhängen</translation>
    </message>
    <message>
        <source>Stop the answer, or go back</source>
        <translation>Antwort stoppen oder zurückgehen</translation>
    </message>
    <message>
        <source>Next speculation mode</source>
        <translation>Nächster Spekulationsmodus</translation>
    </message>
    <message>
        <source>Copy the last answer</source>
        <translation>Letzte Antwort kopieren</translation>
    </message>
    <message>
        <source>Find in this chat</source>
        <translation>In diesem Chat suchen</translation>
    </message>
    <message>
        <source>Next match</source>
        <translation>Nächster Treffer</translation>
    </message>
    <message>
        <source>Previous match</source>
        <translation>Voriger Treffer</translation>
    </message>
    <message>
        <source>New chat</source>
        <translation>Neuer Chat</translation>
    </message>
    <message>
        <source>Search all chats</source>
        <translation>Alle Chats durchsuchen</translation>
    </message>
    <message>
        <source>Next chat</source>
        <translation>Nächster Chat</translation>
    </message>
    <message>
        <source>Previous chat</source>
        <translation>Voriger Chat</translation>
    </message>
    <message>
        <source>Rename the selected or open chat</source>
        <translation>Gewählten oder offenen Chat umbenennen</translation>
    </message>
    <message>
        <source>Undo the last deletion</source>
        <translation>Letztes Löschen rückgängig machen</translation>
    </message>
    <message>
        <source>Show models or the chat</source>
        <translation>Modelle oder den Chat zeigen</translation>
    </message>
    <message>
        <source>Race a question, or back to the chat</source>
        <translation>Rennen mit einer Frage, oder zum Chat</translation>
    </message>
    <message>
        <source>Choose the models</source>
        <translation>Modelle wählen</translation>
    </message>
    <message>
        <source>Show or hide the sidebar</source>
        <translation>Seitenleiste ein- oder ausblenden</translation>
    </message>
    <message>
        <source>Show or hide the statistics</source>
        <translation>Statistik ein- oder ausblenden</translation>
    </message>
    <message>
        <source>Larger text</source>
        <translation>Größere Schrift</translation>
    </message>
    <message>
        <source>Smaller text</source>
        <translation>Kleinere Schrift</translation>
    </message>
    <message>
        <source>Reset text size</source>
        <translation>Schriftgröße zurücksetzen</translation>
    </message>
    <message>
        <source>Settings</source>
        <translation>Einstellungen</translation>
    </message>
    <message>
        <source>Show the local server, or the chat</source>
        <translation>Lokalen Server oder den Chat zeigen</translation>
    </message>
    <message>
        <source>Delete the selected chats</source>
        <translation>Die ausgewählten Chats löschen</translation>
    </message>
    <message>
        <source>Turn the local server on or off</source>
        <translation>Den lokalen Server ein- oder ausschalten</translation>
    </message>
    <message>
        <source>Keyboard shortcuts</source>
        <translation>Tastenkürzel</translation>
    </message>
    <message>
        <source>Open the context menu</source>
        <translation>Kontextmenü öffnen</translation>
    </message>
    <message>
        <source>Full screen on or off</source>
        <translation>Vollbild ein oder aus</translation>
    </message>
    <message>
        <source>Minimise the window</source>
        <translation>Das Fenster minimieren</translation>
    </message>
    <message>
        <source>Close the window</source>
        <translation>Fenster schließen</translation>
    </message>
    <message>
        <source>Mark tokens by source</source>
        <translation>Token nach Herkunft markieren</translation>
    </message>
    <message>
        <source>Chat settings</source>
        <translation>Chat-Einstellungen</translation>
    </message>
    <message>
        <source>Insert a prompt (in an empty message)</source>
        <translation>Vorlage einfügen (in leerer Nachricht)</translation>
    </message>
    <message>
        <source>Show details of the pass at the cursor</source>
        <translation>Einzelheiten zum Durchlauf an der Schreibmarke</translation>
    </message>
    <message>
        <source>Move the cursor through the messages</source>
        <translation>Schreibmarke durch die Nachrichten bewegen</translation>
    </message>
</context>
<context>
    <name>Composer</name>
    <message>
        <source>Messages and files of this chat are sent to {host}.</source>
        <translation>Nachrichten und Dateien dieses Chats werden an {host} gesendet.</translation>
    </message>
    <message>
        <source>Answered by another program on this computer, {host}, which may send messages elsewhere.</source>
        <translation>Es antwortet ein anderes Programm auf diesem Rechner, {host}, das Nachrichten weitersenden kann.</translation>
    </message>
    <message>
        <source>No model is loaded. Open one or start the quick demo.</source>
        <translation>Es ist kein Modell geladen. Öffnen Sie eines, oder starten Sie die schnelle Demo.</translation>
    </message>
    <message>
        <source>The model is loading. You can send your message in a moment.</source>
        <translation>Das Modell wird geladen. Sie können die Nachricht gleich senden.</translation>
    </message>
    <message>
        <source>Tools are off in this chat.</source>
        <translation>Werkzeuge sind in diesem Chat aus.</translation>
    </message>
    <message>
        <source>Tools are on in this chat.</source>
        <translation>Werkzeuge sind in diesem Chat an.</translation>
    </message>
    <message>
        <source>Tools are on. They take about {tokens} of {size} tokens of the context.</source>
        <translation>Werkzeuge sind an. Sie brauchen etwa {tokens} von {size} Token des Kontexts.</translation>
    </message>
    <message>
        <source>on</source>
        <translation>an</translation>
    </message>
    <message>
        <source>off</source>
        <translation>aus</translation>
    </message>
    <message>
        <source>Tools in this chat</source>
        <translation>Werkzeuge in diesem Chat</translation>
    </message>
    <message>
        <source>Built in</source>
        <translation>Eingebaut</translation>
    </message>
    <message>
        <source>All tools of this server</source>
        <translation>Alle Werkzeuge dieses Servers</translation>
    </message>
    <message>
        <source>Add or change servers…</source>
        <translation>Server hinzufügen oder ändern …</translation>
    </message>
    <message>
        <source>Attach files</source>
        <translation>Dateien anhängen</translation>
    </message>
    <message>
        <source>Stop the answer</source>
        <translation>Antwort stoppen</translation>
    </message>
    <message>
        <source>Tools</source>
        <translation>Werkzeuge</translation>
    </message>
    <message>
        <source>Tools of this chat</source>
        <translation>Werkzeuge dieses Chats</translation>
    </message>
    <message>
        <source> Send</source>
        <translation> Senden</translation>
    </message>
    <message>
        <source> Stop</source>
        <translation> Stopp</translation>
    </message>
    <message>
        <source>A race is using the model. You can send your message when it is over.</source>
        <translation>Ein Rennen belegt das Modell. Danach können Sie Ihre Nachricht senden.</translation>
    </message>
    <message>
        <source>Find a draft</source>
        <translation>Entwurfsmodell finden</translation>
    </message>
    <message>
        <source>Send the message (Enter)</source>
        <translation>Nachricht senden (Eingabetaste)</translation>
    </message>
    <message>
        <source>Send</source>
        <translation>Senden</translation>
    </message>
    <message>
        <source>Stop</source>
        <translation>Stopp</translation>
    </message>
    <message>
        <source>Attach text, code, tables, PDF files or pictures</source>
        <translation>Texte, Code, Tabellen, PDF-Dateien oder Bilder anhängen</translation>
    </message>
    <message>
        <source>A file is still being read. You can send your message in a moment.</source>
        <translation>Eine Datei wird noch gelesen. Sie können die Nachricht gleich senden.</translation>
    </message>
    <message>
        <source>Tools are on, but this model cannot use them: {reason}.</source>
        <translation>Werkzeuge sind an, aber dieses Modell kann sie nicht verwenden: {reason}.</translation>
    </message>
    <message numerus="yes">
        <source>{count} tokens</source>
        <translation>
            <numerusform>{count} Token</numerusform>
            <numerusform>{count} Token</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>ConfirmDialog</name>
    <message>
        <source>Cancel</source>
        <translation>Abbrechen</translation>
    </message>
</context>
<context>
    <name>ContextController</name>
    <message>
        <source>The oldest messages could not be summarised: {why}</source>
        <translation>Die ältesten Nachrichten konnten nicht zusammengefasst werden: {why}</translation>
    </message>
</context>
<context>
    <name>ContextMeter</name>
    <message>
        <source>Context: about {used} of {size} tokens used{full}.</source>
        <translation>Kontext: etwa {used} von {size} Token belegt{full}.</translation>
    </message>
    <message>
        <source>Context: no model is loaded.</source>
        <translation>Kontext: Es ist kein Modell geladen.</translation>
    </message>
    <message>
        <source>Context: {used} of {size} tokens used{full}.</source>
        <translation>Kontext: {used} von {size} Token belegt{full}.</translation>
    </message>
    <message>
        <source>, nearly full</source>
        <translation>, fast voll</translation>
    </message>
    <message>
        <source>, full</source>
        <translation>, voll</translation>
    </message>
    <message>
        <source>Too long: with the last question, the conversation takes {needed} tokens, but the context holds only {size}.</source>
        <translation>Zu lang: Mit der letzten Frage braucht die Unterhaltung {needed} Token, aber der Kontext fasst {size}.</translation>
    </message>
    <message>
        <source>{needed} of {size} · too long</source>
        <translation>{needed} von {size} · zu lang</translation>
    </message>
    <message>
        <source>full</source>
        <translation>voll</translation>
    </message>
    <message>
        <source>nearly full</source>
        <translation>fast voll</translation>
    </message>
    <message numerus="yes">
        <source>System prompt {system}, conversation {conversation}, last answer {last} tokens.</source>
        <translation>
            <numerusform>Systemprompt {system}, Unterhaltung {conversation}, letzte Antwort {last} Token.</numerusform>
            <numerusform>Systemprompt {system}, Unterhaltung {conversation}, letzte Antwort {last} Token.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>System prompt and tools {system}, conversation {conversation}, last answer {last} tokens.</source>
        <translation>
            <numerusform>Systemprompt und Werkzeuge {system}, Unterhaltung {conversation}, letzte Antwort {last} Token.</numerusform>
            <numerusform>Systemprompt und Werkzeuge {system}, Unterhaltung {conversation}, letzte Antwort {last} Token.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>ContextSum</name>
    <message>
        <source>This message alone does not fit in the context. Remove an attachment, shorten the text, or choose a larger context in the settings.</source>
        <translation>Schon diese Nachricht passt nicht in den Kontext. Entfernen Sie einen Anhang, kürzen Sie den Text, oder wählen Sie in den Einstellungen einen größeren Kontext.</translation>
    </message>
    <message>
        <source>This does not fit in the context. Remove an attachment, start a new chat, or choose a larger context in the settings.</source>
        <translation>Das passt nicht in den Kontext. Entfernen Sie einen Anhang, beginnen Sie einen neuen Chat, oder wählen Sie in den Einstellungen einen größeren Kontext.</translation>
    </message>
    <message>
        <source>This does not fit in the context: the oldest messages will be left out, and the answer says so.</source>
        <translation>Das passt nicht in den Kontext: Die ältesten Nachrichten werden weggelassen. In der Antwort steht es dann.</translation>
    </message>
    <message>
        <source>This does not fit in the context: the oldest messages will be summarised first, and the answer says so.</source>
        <translation>Das passt nicht in den Kontext: Zuerst werden die ältesten Nachrichten zusammengefasst. In der Antwort steht es dann.</translation>
    </message>
    <message>
        <source>about {total} of {size} tokens</source>
        <translation>etwa {total} von {size} Token</translation>
    </message>
</context>
<context>
    <name>Controller</name>
    <message>
        <source>This happens when the answer is finished. Stop the answer to do it now.</source>
        <translation>Das geschieht, sobald die Antwort fertig ist. Stoppen Sie die Antwort, um es jetzt zu tun.</translation>
    </message>
    <message>
        <source>This happens when all answers are finished. Stop them to do it now.</source>
        <translation>Das geschieht, sobald alle Antworten fertig sind. Stoppen Sie sie, um es jetzt zu tun.</translation>
    </message>
    <message>
        <source>The model is in use. Stop the answer or race first.</source>
        <translation>Das Modell wird gerade gebraucht. Stoppen Sie zuerst die Antwort oder das Rennen.</translation>
    </message>
    <message>
        <source>Everything is saved again.</source>
        <translation>Es ist wieder alles gespeichert.</translation>
    </message>
    <message>
        <source>This happens when the answer to another program is finished.</source>
        <translation>Das geschieht, sobald die Antwort an ein anderes Programm fertig ist.</translation>
    </message>
</context>
<context>
    <name>ConversationList</name>
    <message>
        <source>Chats</source>
        <translation>Chats</translation>
    </message>
</context>
<context>
    <name>ConversationMenu</name>
    <message>
        <source>Open</source>
        <translation>Öffnen</translation>
    </message>
    <message>
        <source>Rename	F2</source>
        <translation>Umbenennen	F2</translation>
    </message>
    <message>
        <source>Unpin</source>
        <translation>Nicht mehr anheften</translation>
    </message>
    <message>
        <source>Pin</source>
        <translation>Anheften</translation>
    </message>
    <message>
        <source>Export</source>
        <translation>Exportieren</translation>
    </message>
    <message>
        <source>Unarchive</source>
        <translation>Aus dem Archiv holen</translation>
    </message>
    <message>
        <source>Archive</source>
        <translation>Archivieren</translation>
    </message>
    <message>
        <source>Delete	Del</source>
        <translation>Löschen	Entf</translation>
    </message>
    <message>
        <source>New chat in this folder</source>
        <translation>Neuer Chat in diesem Ordner</translation>
    </message>
    <message>
        <source>Files and instructions…</source>
        <translation>Dateien und Anweisungen …</translation>
    </message>
    <message>
        <source>Remove folder, keep chats	Del</source>
        <translation>Ordner entfernen, Chats behalten	Entf</translation>
    </message>
    <message>
        <source>New folder</source>
        <translation>Neuer Ordner</translation>
    </message>
    <message>
        <source>Recently deleted…</source>
        <translation>Zuletzt gelöscht …</translation>
    </message>
    <message>
        <source>Export all chats</source>
        <translation>Alle Chats exportieren</translation>
    </message>
    <message>
        <source>Move to folder</source>
        <translation>In Ordner verschieben</translation>
    </message>
    <message>
        <source>No folder</source>
        <translation>Kein Ordner</translation>
    </message>
    <message>
        <source>As Markdown…</source>
        <translation>Als Markdown …</translation>
    </message>
    <message>
        <source>Import chats or a project…</source>
        <translation>Chats oder ein Projekt importieren …</translation>
    </message>
    <message>
        <source>As JSON, with branches and statistics…</source>
        <translation>Als JSON, mit Zweigen und Statistik …</translation>
    </message>
    <message>
        <source>Unfold</source>
        <translation>Aufklappen</translation>
    </message>
    <message>
        <source>Fold</source>
        <translation>Zuklappen</translation>
    </message>
    <message numerus="yes">
        <source>Archive %n chats</source>
        <translation>
            <numerusform>%n Chat archivieren</numerusform>
            <numerusform>%n Chats archivieren</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Delete %n chats</source>
        <translation>
            <numerusform>%n Chat löschen</numerusform>
            <numerusform>%n Chats löschen</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>ConversationModel</name>
    <message numerus="yes">
        <source>Folder {text}, %n chats, {state}</source>
        <translation>
            <numerusform>Ordner {text}, %n Chat, {state}</numerusform>
            <numerusform>Ordner {text}, %n Chats, {state}</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{text}, %n chats, {state}</source>
        <translation>
            <numerusform>{text}, %n Chat, {state}</numerusform>
            <numerusform>{text}, %n Chats, {state}</numerusform>
        </translation>
    </message>
    <message>
        <source>Pinned</source>
        <translation>Angeheftet</translation>
    </message>
    <message>
        <source>Archived</source>
        <translation>Archiviert</translation>
    </message>
    <message>
        <source>writing an answer</source>
        <translation>Antwort wird geschrieben</translation>
    </message>
    <message>
        <source>unread answer</source>
        <translation>ungelesene Antwort</translation>
    </message>
    <message>
        <source>closed</source>
        <translation>geschlossen</translation>
    </message>
    <message>
        <source>open</source>
        <translation>offen</translation>
    </message>
    <message>
        <source>Today</source>
        <translation>Heute</translation>
    </message>
    <message>
        <source>Yesterday</source>
        <translation>Gestern</translation>
    </message>
    <message>
        <source>was sent to a remote server</source>
        <translation>wurde an einen Remote-Server gesendet</translation>
    </message>
    <message>
        <source>Earlier</source>
        <translation>Früher</translation>
    </message>
</context>
<context>
    <name>Delegate</name>
    <message>
        <source>Name of the folder</source>
        <translation>Name des Ordners</translation>
    </message>
    <message>
        <source>Title of the chat</source>
        <translation>Titel des Chats</translation>
    </message>
</context>
<context>
    <name>DeletionController</name>
    <message numerus="yes">
        <source>Deleted %n messages.</source>
        <translation>
            <numerusform>%n Nachricht gelöscht.</numerusform>
            <numerusform>%n Nachrichten gelöscht.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Deleted the folder “{name}”; its %n chats were kept.</source>
        <translation>
            <numerusform>Ordner „{name}“ gelöscht; sein Chat bleibt.</numerusform>
            <numerusform>Ordner „{name}“ gelöscht; seine %n Chats bleiben.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{count} days left</source>
        <translation>
            <numerusform>noch {count} Tag</numerusform>
            <numerusform>noch {count} Tage</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Deleted %n chats.</source>
        <translation>
            <numerusform>%n Chat gelöscht.</numerusform>
            <numerusform>%n Chats gelöscht.</numerusform>
        </translation>
    </message>
    <message>
        <source>Deleted “{title}”.</source>
        <translation>„{title}“ gelöscht.</translation>
    </message>
    <message>
        <source>Recently deleted</source>
        <translation>Zuletzt gelöscht</translation>
    </message>
    <message>
        <source>Deleted chats stay here for 30 days. Then they are gone for good.</source>
        <translation>Gelöschte Chats bleiben 30 Tage hier. Danach sind sie endgültig weg.</translation>
    </message>
    <message>
        <source>Restore</source>
        <translation>Wiederherstellen</translation>
    </message>
    <message>
        <source>Deleted chats</source>
        <translation>Gelöschte Chats</translation>
    </message>
    <message>
        <source>Delete for good</source>
        <translation>Endgültig löschen</translation>
    </message>
    <message>
        <source>Deleted the empty folder “{name}”.</source>
        <translation>Leeren Ordner „{name}“ gelöscht.</translation>
    </message>
</context>
<context>
    <name>DepthBars</name>
    <message>
        <source>position {depth}: {share}</source>
        <translation>Position {depth}: {share}</translation>
    </message>
    <message>
        <source>Nothing proposed yet</source>
        <translation>Noch nichts vorgeschlagen</translation>
    </message>
</context>
<context>
    <name>Dialogs</name>
    <message>
        <source>Open this link?</source>
        <translation>Diesen Link öffnen?</translation>
    </message>
    <message>
        <source>The answer names this address. Your browser will open it.</source>
        <translation>Die Antwort nennt diese Adresse. Ihr Browser wird sie öffnen.</translation>
    </message>
    <message>
        <source>Open</source>
        <translation>Öffnen</translation>
    </message>
    <message>
        <source>Address</source>
        <translation>Adresse</translation>
    </message>
    <message>
        <source>Copied</source>
        <translation>Kopiert</translation>
    </message>
</context>
<context>
    <name>DownloadIndicator</name>
    <message>
        <source>Downloads</source>
        <translation>Downloads</translation>
    </message>
    <message>
        <source> stopped</source>
        <translation> gestoppt</translation>
    </message>
    <message>
        <source>A download has stopped and needs attention</source>
        <translation>Ein Download ist stehen geblieben und braucht Ihre Aufmerksamkeit</translation>
    </message>
    <message>
        <source>Downloads: {words}</source>
        <translation>Downloads: {words}</translation>
    </message>
</context>
<context>
    <name>DownloadLine</name>
    <message>
        <source>Download of {name}</source>
        <translation>Download von {name}</translation>
    </message>
    <message>
        <source>Chat</source>
        <translation>Chat</translation>
    </message>
    <message>
        <source>Chat with {name}</source>
        <translation>Mit {name} chatten</translation>
    </message>
</context>
<context>
    <name>DownloadsPage</name>
    <message numerus="yes">
        <source>%n downloading</source>
        <translation>
            <numerusform>%n wird geladen</numerusform>
            <numerusform>%n werden geladen</numerusform>
        </translation>
    </message>
    <message>
        <source>Pause</source>
        <translation>Anhalten</translation>
    </message>
    <message>
        <source>Cancel and delete the partial file</source>
        <translation>Abbrechen und die Teildatei löschen</translation>
    </message>
    <message>
        <source>Resume</source>
        <translation>Fortsetzen</translation>
    </message>
    <message>
        <source>Try again</source>
        <translation>Erneut versuchen</translation>
    </message>
    <message>
        <source>Remove from this list; the model is kept</source>
        <translation>Aus dieser Liste entfernen; das Modell bleibt</translation>
    </message>
    <message>
        <source>{done} of {total}</source>
        <translation>{done} von {total}</translation>
    </message>
    <message>
        <source>Downloads</source>
        <translation>Downloads</translation>
    </message>
    <message>
        <source>Search models</source>
        <translation>Modelle suchen</translation>
    </message>
    <message>
        <source>See recommended pairs</source>
        <translation>Empfohlene Paare ansehen</translation>
    </message>
    <message>
        <source>Nothing is downloading</source>
        <translation>Es wird nichts heruntergeladen</translation>
    </message>
    <message>
        <source>Downloads continue where they stopped, even after a restart.</source>
        <translation>Downloads gehen dort weiter, wo sie stehen geblieben sind, auch nach einem Neustart.</translation>
    </message>
    <message>
        <source>No downloads right now.</source>
        <translation>Zurzeit keine Downloads.</translation>
    </message>
</context>
<context>
    <name>DropOverlay</name>
    <message>
        <source>Use as target</source>
        <translation>Als Zielmodell verwenden</translation>
    </message>
    <message>
        <source>Use as draft</source>
        <translation>Als Entwurfsmodell verwenden</translation>
    </message>
    <message>
        <source>The target writes the answers. A draft is a smaller model, best with the same vocabulary, that proposes tokens for it.</source>
        <translation>Das Zielmodell schreibt die Antworten. Ein Entwurfsmodell ist ein kleineres Modell, am besten mit demselben Vokabular, das ihm Token vorschlägt.</translation>
    </message>
</context>
<context>
    <name>EditsController</name>
    <message>
        <source>You are still editing a message in this chat; your text is there.</source>
        <translation>Sie bearbeiten noch eine Nachricht dieses Chats; Ihr Text steht dort.</translation>
    </message>
</context>
<context>
    <name>EmptyState</name>
    <message>
        <source>Repeat a text</source>
        <translation>Text wiederholen</translation>
    </message>
    <message>
        <source>Repeat this text exactly: The quiet river runs past the old stone bridge.</source>
        <translation>Repeat this text exactly: The quiet river runs past the old stone bridge.</translation>
    </message>
    <message>
        <source>Make a table</source>
        <translation>Tabelle anlegen</translation>
    </message>
    <message>
        <source>Make a Markdown table of these words: river, stone, lamp, boat, apple, bell.</source>
        <translation>Make a Markdown table of these words: river, stone, lamp, boat, apple, bell.</translation>
    </message>
    <message>
        <source>Ask about drafting</source>
        <translation>Nach Entwürfen fragen</translation>
    </message>
    <message>
        <source>What is speculative decoding?</source>
        <translation>What is speculative decoding?</translation>
    </message>
    <message>
        <source>Hear a story</source>
        <translation>Geschichte hören</translation>
    </message>
    <message>
        <source>Write a short story about a fox.</source>
        <translation>Write a short story about a fox.</translation>
    </message>
    <message>
        <source>Have something explained</source>
        <translation>Etwas erklären lassen</translation>
    </message>
    <message>
        <source>Explain how a refrigerator works, in five short sentences.</source>
        <translation>Erkläre in fünf kurzen Sätzen, wie ein Kühlschrank funktioniert.</translation>
    </message>
    <message>
        <source>Make a plan</source>
        <translation>Einen Plan machen</translation>
    </message>
    <message>
        <source>Plan a weekend in a city that I do not know yet, as a table with times.</source>
        <translation>Plane ein Wochenende in einer Stadt, die ich noch nicht kenne, als Tabelle mit Uhrzeiten.</translation>
    </message>
    <message>
        <source>Improve a text</source>
        <translation>Einen Text verbessern</translation>
    </message>
    <message>
        <source>Correct this text and list what you changed: Yesterday me and my brother has went to the libary, because they&apos;re books was overdue.</source>
        <translation>Korrigiere diesen Text und liste auf, was du geändert hast: Gestern sind mein Bruder und mich in die Biblothek gegangen, weil die Bücher seit langen fällig wahren.</translation>
    </message>
    <message>
        <source>Start</source>
        <translation>Start</translation>
    </message>
    <message>
        <source>Quick demo</source>
        <translation>Schnelle Demo</translation>
    </message>
    <message>
        <source> Open a GGUF file…</source>
        <translation> GGUF-Datei öffnen …</translation>
    </message>
    <message>
        <source> Find models</source>
        <translation> Modelle finden</translation>
    </message>
    <message>
        <source>Choose a model file on this computer</source>
        <translation>Eine Modelldatei auf diesem Rechner wählen</translation>
    </message>
    <message>
        <source>Recommended models, search and library</source>
        <translation>Empfohlene Modelle, Suche und Bibliothek</translation>
    </message>
    <message>
        <source>This model has no chat template, so it was probably trained to continue texts, not to answer. You can chat with it in a common format, or let it continue what you write: choose that as the prompt format in the chat settings.</source>
        <translation>Dieses Modell hat keine Chat-Vorlage. Es wurde also wohl darauf trainiert, Texte fortzusetzen, nicht zu antworten. Sie können in einem üblichen Format damit chatten oder es Ihren Text fortsetzen lassen: Wählen Sie das als Prompt-Format in den Chat-Einstellungen.</translation>
    </message>
    <message>
        <source>Loading the model</source>
        <translation>Das Modell wird geladen</translation>
    </message>
    <message>
        <source>This takes a moment. You can already write your message.</source>
        <translation>Das dauert einen Moment. Sie können Ihre Nachricht schon schreiben.</translation>
    </message>
    <message>
        <source>Write the beginning of a text below; the model continues it.</source>
        <translation>Schreiben Sie unten den Anfang eines Textes; das Modell setzt ihn fort.</translation>
    </message>
    <message>
        <source>No model yet</source>
        <translation>Noch kein Modell</translation>
    </message>
    <message>
        <source>Loading {name}</source>
        <translation>{name} wird geladen</translation>
    </message>
    <message>
        <source>Open a GGUF file from your computer, or start with the quick demo. {note}</source>
        <translation>Öffnen Sie eine GGUF-Datei von Ihrem Rechner, oder beginnen Sie mit der schnellen Demo. {note}</translation>
    </message>
    <message>
        <source>{note} Try messages like these.</source>
        <translation>{note} Probieren Sie Nachrichten wie diese (auf Englisch).</translation>
    </message>
    <message>
        <source>Continue a text</source>
        <translation>Einen Text fortsetzen</translation>
    </message>
    <message>
        <source>New chat</source>
        <translation>Neuer Chat</translation>
    </message>
    <message>
        <source>Write a message below, or try one of these.</source>
        <translation>Schreiben Sie unten eine Nachricht, oder probieren Sie eine von diesen.</translation>
    </message>
</context>
<context>
    <name>EnginesPage</name>
    <message>
        <source>Chat with a model that runs elsewhere, on any OpenAI-compatible server such as vLLM, SGLang, llama-server, LM Studio or Ollama. Your messages and attached files are sent to that server.</source>
        <translation>Chatten Sie mit einem Modell, das anderswo läuft: auf einem OpenAI-kompatiblen Server wie vLLM, SGLang, llama-server, LM Studio oder Ollama. Ihre Nachrichten und angehängten Dateien werden an diesen Server gesendet.</translation>
    </message>
    <message>
        <source>The key is stored in the system&apos;s keyring and sent only to this address.</source>
        <translation>Der Schlüssel liegt im Schlüsselbund des Systems und wird nur an diese Adresse gesendet.</translation>
    </message>
    <message>
        <source>Send unencrypted: I trust this network</source>
        <translation>Unverschlüsselt senden: Ich vertraue diesem Netz</translation>
    </message>
    <message>
        <source>Key, if it needs one</source>
        <translation>Schlüssel, falls nötig</translation>
    </message>
    <message>
        <source>Model on {host}</source>
        <translation>Modell auf {host}</translation>
    </message>
    <message>
        <source>Chat</source>
        <translation>Chat</translation>
    </message>
    <message>
        <source>Chat with a model on {host}</source>
        <translation>Mit einem Modell auf {host} chatten</translation>
    </message>
    <message>
        <source>Remove</source>
        <translation>Entfernen</translation>
    </message>
    <message>
        <source>Remove {host} and forget its key</source>
        <translation>{host} entfernen und den Schlüssel vergessen</translation>
    </message>
    <message>
        <source>on this computer</source>
        <translation>auf diesem Rechner</translation>
    </message>
    <message>
        <source>drafts: {how}</source>
        <translation>Entwürfe: {how}</translation>
    </message>
    <message>
        <source>context of {number} tokens</source>
        <translation>Kontext von {number} Token</translation>
    </message>
    <message>
        <source>Address of the server</source>
        <translation>Adresse des Servers</translation>
    </message>
    <message>
        <source>Key of the server</source>
        <translation>Schlüssel des Servers</translation>
    </message>
    <message>
        <source>Add server</source>
        <translation>Server hinzufügen</translation>
    </message>
    <message>
        <source>Not reachable at the last check</source>
        <translation>Beim letzten Versuch nicht erreichbar</translation>
    </message>
    <message>
        <source>Refresh</source>
        <translation>Aktualisieren</translation>
    </message>
    <message>
        <source>Connecting…</source>
        <translation>Wird verbunden …</translation>
    </message>
    <message>
        <source>Add a remote server</source>
        <translation>Remote-Server hinzufügen</translation>
    </message>
    <message>
        <source>drafting unknown</source>
        <translation>Entwürfe unbekannt</translation>
    </message>
    <message>
        <source>Remote servers</source>
        <translation>Remote-Server</translation>
    </message>
    <message>
        <source>unencrypted</source>
        <translation>unverschlüsselt</translation>
    </message>
    <message>
        <source>Refresh the models of {host}</source>
        <translation>Modelle von {host} aktualisieren</translation>
    </message>
    <message numerus="yes">
        <source>%n models</source>
        <translation>
            <numerusform>%n Modell</numerusform>
            <numerusform>%n Modelle</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>Figures</name>
    <message>
        <source>{number} parameters</source>
        <translation>{number} Parameter</translation>
    </message>
    <message>
        <source>{number} k parameters</source>
        <translation>{number} Tsd. Parameter</translation>
    </message>
    <message>
        <source>{number} M parameters</source>
        <translation>{number} Mio. Parameter</translation>
    </message>
    <message>
        <source>{number} B parameters</source>
        <translation>{number} Mrd. Parameter</translation>
    </message>
    <message>
        <source>{number} T parameters</source>
        <translation>{number} Bio. Parameter</translation>
    </message>
    <message>
        <source>{minutes} min {seconds} s</source>
        <translation>{minutes} min {seconds} s</translation>
    </message>
    <message>
        <source>{number} tok/s</source>
        <translation>{number} Tok/s</translation>
    </message>
    <message>
        <source>{share} of {number}</source>
        <translation>{share} von {number}</translation>
    </message>
    <message>
        <source>Tokens per second, from the end of reading the prompt to the last token.</source>
        <translation>Token pro Sekunde, vom Ende des Lesens der Eingabe bis zum letzten Token.</translation>
    </message>
    <message>
        <source>The first came {time} after the question: the model reads the prompt first.</source>
        <translation>Das erste kam {time} nach der Frage: Vorher liest das Modell die Eingabe.</translation>
    </message>
    <message>
        <source>Drafted tokens that a schema fixed. They needed no draft model.</source>
        <translation>Entworfene Token, die ein Schema vorgab. Sie brauchten kein Entwurfsmodell.</translation>
    </message>
    <message>
        <source>{number} tokens per pass</source>
        <translation>{number} Token pro Durchlauf</translation>
    </message>
    <message>
        <source>{number}%</source>
        <translation>{number}&#xa0;%</translation>
    </message>
    <message>
        <source>How tokens were proposed.</source>
        <translation>Wie Token vorgeschlagen wurden.</translation>
    </message>
    <message>
        <source>nothing drafted</source>
        <translation>nichts entworfen</translation>
    </message>
    <message>
        <source>{number} drafted, {share} accepted</source>
        <translation>{number} entworfen, {share} akzeptiert</translation>
    </message>
    <message>
        <source>No tokens were proposed: every pass gave one token of the target.</source>
        <translation>Es wurde kein Token vorgeschlagen: Jeder Durchlauf ergab ein Token des Zielmodells.</translation>
    </message>
    <message>
        <source>seed {seed}</source>
        <translation>Seed {seed}</translation>
    </message>
    <message>
        <source>{number} of {all} tokens came from repeated text.</source>
        <translation>{number} von {all} Token kamen aus wiederholtem Text.</translation>
    </message>
    <message>
        <source>{number} of {all} tokens came from the draft.</source>
        <translation>{number} von {all} Token kamen vom Entwurfsmodell.</translation>
    </message>
    <message>
        <source>Tokens of the answer, its reasoning included.</source>
        <translation>Token der Antwort, der Gedankengang eingeschlossen.</translation>
    </message>
    <message>
        <source>{tokens}, the first after {time}</source>
        <translation>{tokens}, das erste nach {time}</translation>
    </message>
    <message>
        <source>How many of the drafted tokens the target accepted.</source>
        <translation>Wie viele der entworfenen Token das Zielmodell akzeptiert hat.</translation>
    </message>
    <message>
        <source>{number} fixed by the schema</source>
        <translation>{number} durch das Schema bestimmt</translation>
    </message>
    <message>
        <source>about the same speed</source>
        <translation>etwa gleich schnell</translation>
    </message>
    <message>
        <source>This seed repeats the answer: see the answer&apos;s menu.</source>
        <translation>Dieser Seed wiederholt die Antwort: siehe das Menü der Antwort.</translation>
    </message>
    <message>
        <source>Tokens per pass of the target. Without drafting it is 1.0.</source>
        <translation>Token pro Durchlauf des Zielmodells. Ohne Entwürfe ist es 1,0.</translation>
    </message>
    <message numerus="yes">
        <source>%Ln tokens</source>
        <translation>
            <numerusform>%Ln Token</numerusform>
            <numerusform>%Ln Token</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>FileTable</name>
    <message numerus="yes">
        <source>%n parts</source>
        <translation>
            <numerusform>%n Teil</numerusform>
            <numerusform>%n Teile</numerusform>
        </translation>
    </message>
    <message>
        <source>Files that go with a model</source>
        <translation>Dateien, die zu einem Modell gehören</translation>
    </message>
    <message>
        <source>Chat</source>
        <translation>Chat</translation>
    </message>
    <message>
        <source>Chat with {what}</source>
        <translation>Mit {what} chatten</translation>
    </message>
    <message>
        <source>Downloading</source>
        <translation>Wird heruntergeladen</translation>
    </message>
    <message>
        <source>{what} is downloading</source>
        <translation>{what} wird heruntergeladen</translation>
    </message>
    <message>
        <source>Download</source>
        <translation>Herunterladen</translation>
    </message>
    <message>
        <source>Download {what}</source>
        <translation>{what} herunterladen</translation>
    </message>
    <message>
        <source>draft model</source>
        <translation>Entwurfsmodell</translation>
    </message>
</context>
<context>
    <name>FindBar</name>
    <message>
        <source>Find in this chat</source>
        <translation>In diesem Chat suchen</translation>
    </message>
    <message>
        <source>Previous match (Shift+F3)</source>
        <translation>Voriger Treffer (Umschalt+F3)</translation>
    </message>
    <message>
        <source>Next match (F3)</source>
        <translation>Nächster Treffer (F3)</translation>
    </message>
    <message>
        <source>Close (Esc)</source>
        <translation>Schließen (Esc)</translation>
    </message>
    <message>
        <source>Reading the chat…</source>
        <translation>Der Chat wird gelesen …</translation>
    </message>
    <message>
        <source>{number} of {total}</source>
        <translation>{number} von {total}</translation>
    </message>
    <message>
        <source>Nothing found</source>
        <translation>Nichts gefunden</translation>
    </message>
</context>
<context>
    <name>FitView</name>
    <message>
        <source>an unknown amount</source>
        <translation>unbekannt viel</translation>
    </message>
    <message>
        <source>{size} of {free} free</source>
        <translation>{size} von {free} frei</translation>
    </message>
    <message>
        <source>Needed with a context of {count} tokens</source>
        <translation>Bedarf bei einem Kontext von {count} Token</translation>
    </message>
    <message>
        <source>Needed with a context of {count} tokens for each of {number} answers at once</source>
        <translation>Bedarf bei einem Kontext von {count} Token für jede von {number} Antworten zugleich</translation>
    </message>
</context>
<context>
    <name>Header</name>
    <message>
        <source>Every mode gives exactly the same answer to a question.</source>
        <translation>Jeder Modus gibt auf eine Frage genau dieselbe Antwort.</translation>
    </message>
    <message>
        <source>CPU only</source>
        <translation>Nur der Prozessor</translation>
    </message>
    <message>
        <source>Not available, because its mmproj file is not loaded: {parts}</source>
        <translation>Nicht verfügbar, weil die mmproj-Datei nicht geladen ist: {parts}</translation>
    </message>
    <message>
        <source>from the model</source>
        <translation>vom Modell</translation>
    </message>
    <message>
        <source>Its server decides how it drafts.</source>
        <translation>Der Server entscheidet, wie er entwirft.</translation>
    </message>
    <message>
        <source>Its vocabulary differs and has {share} of the target&apos;s tokens.</source>
        <translation>Es hat ein anderes Vokabular, mit {share} der Token des Zielmodells.</translation>
    </message>
    <message numerus="yes">
        <source>{number} layers on {device}</source>
        <translation>
            <numerusform>{number} Schicht auf {device}</numerusform>
            <numerusform>{number} Schichten auf {device}</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>experts of {number} layers in main memory</source>
        <translation>
            <numerusform>Experten von {number} Schicht im Arbeitsspeicher</numerusform>
            <numerusform>Experten von {number} Schichten im Arbeitsspeicher</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{number} layers on the GPU</source>
        <translation>
            <numerusform>{number} Schicht auf der GPU</numerusform>
            <numerusform>{number} Schichten auf der GPU</numerusform>
        </translation>
    </message>
    <message>
        <source>{name}
{architecture}, {parameters}, {size}
Context {used} of {trained} tokens, {threads} threads, {where}
Chat template: {template_name}
{path}</source>
        <translation>{name}
{architecture}, {parameters}, {size}
Kontext {used} von {trained} Token, {threads} Threads, {where}
Chat-Vorlage: {template_name}
{path}</translation>
    </message>
    <message>
        <source>{name}
On {host} ({engine}); your messages leave this computer.</source>
        <translation>{name}
Auf {host} ({engine}); Ihre Nachrichten verlassen diesen Rechner.</translation>
    </message>
    <message>
        <source>New chat</source>
        <translation>Neuer Chat</translation>
    </message>
    <message>
        <source>Loading the model</source>
        <translation>Das Modell wird geladen</translation>
    </message>
    <message>
        <source>Find and download models…</source>
        <translation>Modelle finden und herunterladen …</translation>
    </message>
    <message>
        <source>Stop loading</source>
        <translation>Laden abbrechen</translation>
    </message>
    <message>
        <source>Open a GGUF as draft…</source>
        <translation>GGUF als Entwurfsmodell öffnen …</translation>
    </message>
    <message>
        <source>Quick demo</source>
        <translation>Schnelle Demo</translation>
    </message>
    <message>
        <source>pictures</source>
        <translation>Bilder</translation>
    </message>
    <message>
        <source>{name}
On {host} ({engine}), another program on this computer.</source>
        <translation>{name}
Auf {host} ({engine}), einem anderen Programm auf diesem Rechner.</translation>
    </message>
    <message>
        <source>Show the sidebar</source>
        <translation>Seitenleiste einblenden</translation>
    </message>
    <message>
        <source>Show or hide the statistics</source>
        <translation>Statistik ein- oder ausblenden</translation>
    </message>
    <message>
        <source>Recommended pairs, search, drafts, library, downloads</source>
        <translation>Empfohlene Paare, Suche, Entwurfsmodelle, Bibliothek, Downloads</translation>
    </message>
    <message>
        <source>Open a GGUF file…</source>
        <translation>GGUF-Datei öffnen …</translation>
    </message>
    <message>
        <source>Unload the model</source>
        <translation>Modell entladen</translation>
    </message>
    <message>
        <source>Frees its memory until a model is chosen again.</source>
        <translation>Gibt seinen Speicher frei, bis wieder ein Modell gewählt wird.</translation>
    </message>
    <message>
        <source>Models: {names}</source>
        <translation>Modelle: {names}</translation>
    </message>
    <message>
        <source>Preparing {name}</source>
        <translation>{name} wird vorbereitet</translation>
    </message>
    <message>
        <source>Loading {name}</source>
        <translation>{name} wird geladen</translation>
    </message>
    <message>
        <source>Loading a model</source>
        <translation>Ein Modell wird geladen</translation>
    </message>
    <message>
        <source>No model</source>
        <translation>Kein Modell</translation>
    </message>
    <message>
        <source>no draft</source>
        <translation>kein Entwurfsmodell</translation>
    </message>
    <message>
        <source>own head ({method})</source>
        <translation>eigener Kopf ({method})</translation>
    </message>
    <message>
        <source>No model is loaded. Open a GGUF file or start the quick demo.</source>
        <translation>Es ist kein Modell geladen. Öffnen Sie eine GGUF-Datei, oder starten Sie die schnelle Demo.</translation>
    </message>
    <message>
        <source>Target: {words}</source>
        <translation>Zielmodell: {words}</translation>
    </message>
    <message>
        <source>Draft: {words}</source>
        <translation>Entwurfsmodell: {words}</translation>
    </message>
    <message>
        <source>Draft: a head in the model&apos;s own file ({method}).</source>
        <translation>Entwurfsmodell: ein Kopf in der Datei des Modells selbst ({method}).</translation>
    </message>
    <message>
        <source>No draft. {why}</source>
        <translation>Kein Entwurfsmodell. {why}</translation>
    </message>
    <message>
        <source>The quick demo uses two tiny models. It shows how speculative decoding works, not how good or fast a large model is.</source>
        <translation>Die schnelle Demo nutzt zwei winzige Modelle. Sie zeigt, wie spekulatives Dekodieren funktioniert, nicht, wie gut oder schnell ein großes Modell ist.</translation>
    </message>
</context>
<context>
    <name>HelpButton</name>
    <message>
        <source>Help</source>
        <translation>Hilfe</translation>
    </message>
    <message>
        <source>Keyboard shortcuts</source>
        <translation>Tastenkürzel</translation>
    </message>
    <message>
        <source>Open the log folder</source>
        <translation>Protokollordner öffnen</translation>
    </message>
    <message>
        <source>Copy diagnostics</source>
        <translation>Diagnosedaten kopieren</translation>
    </message>
    <message>
        <source>Open the page of new versions</source>
        <translation>Seite mit neuen Versionen öffnen</translation>
    </message>
    <message>
        <source>About Paceline</source>
        <translation>Über Paceline</translation>
    </message>
</context>
<context>
    <name>HelpMenu</name>
    <message>
        <source>Paceline {version}: chat with local language models, made faster by speculative decoding without changing their answers. MIT licence; third-party licences are in assets/THIRD_PARTY.md.</source>
        <translation>Paceline {version}: Chatten mit lokalen Sprachmodellen, schneller durch spekulatives Dekodieren, ohne ihre Antworten zu verändern. MIT-Lizenz; die Lizenzen Dritter stehen in assets/THIRD_PARTY.md.</translation>
    </message>
    <message>
        <source>Diagnostics copied. They contain nothing from your chats.</source>
        <translation>Diagnosedaten kopiert. Sie enthalten nichts aus Ihren Chats.</translation>
    </message>
    <message>
        <source>The logs are in {folder}.</source>
        <translation>Die Protokolle liegen in {folder}.</translation>
    </message>
</context>
<context>
    <name>HubController</name>
    <message>
        <source>Open the folder with your file manager.</source>
        <translation>Öffnen Sie den Ordner mit Ihrem Dateimanager.</translation>
    </message>
    <message>
        <source>Downloaded and checked: {names}.</source>
        <translation>Heruntergeladen und geprüft: {names}.</translation>
    </message>
    <message>
        <source>Downloaded, but not verified, as there is no checksum: {names}.</source>
        <translation>Heruntergeladen, aber nicht überprüft, da es keine Prüfsumme gibt: {names}.</translation>
    </message>
    <message>
        <source>Freed {size} of disk space.</source>
        <translation>{size} Speicherplatz sind wieder frei.</translation>
    </message>
    <message>
        <source>Searching {folder}…</source>
        <translation>{folder} wird durchsucht …</translation>
    </message>
    <message>
        <source>Removed from the list.</source>
        <translation>Aus der Liste entfernt.</translation>
    </message>
    <message numerus="yes">
        <source>Searched {folder}: %n models.</source>
        <translation>
            <numerusform>{folder} durchsucht: %n Modell.</numerusform>
            <numerusform>{folder} durchsucht: %n Modelle.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>HubFitViews</name>
    <message>
        <source>Memory</source>
        <translation>Arbeitsspeicher</translation>
    </message>
    <message>
        <source>GPU memory</source>
        <translation>GPU-Speicher</translation>
    </message>
    <message>
        <source>Disk</source>
        <translation>Festplatte</translation>
    </message>
</context>
<context>
    <name>HubPairs</name>
    <message>
        <source>The vocabularies differ.</source>
        <translation>Die Vokabulare unterscheiden sich.</translation>
    </message>
    <message>
        <source>Both vocabularies have the same tokens and settings.</source>
        <translation>Beide Vokabulare haben dieselben Token und Einstellungen.</translation>
    </message>
</context>
<context>
    <name>HubRecommendations</name>
    <message>
        <source>Not checked against the hub yet.</source>
        <translation>Noch nicht mit dem Hub abgeglichen.</translation>
    </message>
</context>
<context>
    <name>HubViews</name>
    <message>
        <source>The publisher restricts the download. Accept the terms or request access on the model&apos;s page while signed in, then enter an access token of your account.</source>
        <translation>Der Herausgeber beschränkt das Herunterladen. Nehmen Sie angemeldet auf der Seite des Modells die Bedingungen an, oder beantragen Sie dort den Zugang; geben Sie dann ein Zugriffstoken Ihres Kontos ein.</translation>
    </message>
    <message>
        <source>context of {number} tokens</source>
        <translation>Kontext von {number} Token</translation>
    </message>
</context>
<context>
    <name>LegendRow</name>
    <message>
        <source>{words} Click to mark these tokens in the answers.</source>
        <translation>{words} Klicken Sie, um diese Token in den Antworten zu markieren.</translation>
    </message>
    <message>
        <source>Mark {name} tokens: {text}</source>
        <translation>Token markieren ({name}): {text}</translation>
    </message>
</context>
<context>
    <name>LibraryController</name>
    <message>
        <source>New folder</source>
        <translation>Neuer Ordner</translation>
    </message>
</context>
<context>
    <name>LibraryLine</name>
    <message>
        <source>Chat</source>
        <translation>Chat</translation>
    </message>
    <message>
        <source>Chat with {name}</source>
        <translation>Mit {name} chatten</translation>
    </message>
    <message>
        <source>More actions for {name}</source>
        <translation>Weitere Aktionen für {name}</translation>
    </message>
    <message>
        <source>Missing</source>
        <translation>Fehlt</translation>
    </message>
    <message>
        <source>The file has moved or its disk is missing. Connect the disk, or remove the model from the list.</source>
        <translation>Die Datei wurde verschoben, oder ihr Laufwerk fehlt. Schließen Sie das Laufwerk an, oder nehmen Sie das Modell aus der Liste.</translation>
    </message>
    <message>
        <source>Used in place</source>
        <translation>Nicht kopiert</translation>
    </message>
    <message>
        <source>The file stays where it is; removing it here does not delete it.</source>
        <translation>Die Datei bleibt, wo sie ist; wird sie hier entfernt, wird sie nicht gelöscht.</translation>
    </message>
    <message>
        <source>Use as the draft</source>
        <translation>Als Entwurfsmodell verwenden</translation>
    </message>
    <message>
        <source>Show in its folder</source>
        <translation>Im Ordner zeigen</translation>
    </message>
    <message>
        <source>Remove…</source>
        <translation>Entfernen …</translation>
    </message>
    <message>
        <source>“{name}” is removed from the list. No file is deleted.</source>
        <translation>„{name}“ wird aus der Liste genommen. Es wird keine Datei gelöscht.</translation>
    </message>
    <message>
        <source>Remove this model from the list?</source>
        <translation>Dieses Modell aus der Liste nehmen?</translation>
    </message>
    <message>
        <source>Remove</source>
        <translation>Entfernen</translation>
    </message>
    <message>
        <source>“{name}” is deleted from this computer. This frees {size}.</source>
        <translation>„{name}“ wird von diesem Rechner gelöscht. Das gibt {size} frei.</translation>
    </message>
    <message>
        <source>Delete this model?</source>
        <translation>Dieses Modell löschen?</translation>
    </message>
    <message>
        <source>Delete</source>
        <translation>Löschen</translation>
    </message>
    <message>
        <source>In use as draft</source>
        <translation>Als Entwurfsmodell in Gebrauch</translation>
    </message>
    <message>
        <source>In use as target</source>
        <translation>Als Zielmodell in Gebrauch</translation>
    </message>
</context>
<context>
    <name>LibraryPage</name>
    <message numerus="yes">
        <source>%n models · {total} in the models folder</source>
        <translation>
            <numerusform>%n Modell · {total} im Modellordner</numerusform>
            <numerusform>%n Modelle · {total} im Modellordner</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n models</source>
        <translation>
            <numerusform>%n Modell</numerusform>
            <numerusform>%n Modelle</numerusform>
        </translation>
    </message>
    <message>
        <source>paired with {paired_with}</source>
        <translation>verbunden mit {paired_with}</translation>
    </message>
    <message>
        <source>sees pictures with {side_file}</source>
        <translation>sieht Bilder mit {side_file}</translation>
    </message>
    <message>
        <source>Looking for your models…</source>
        <translation>Ihre Modelle werden gesucht …</translation>
    </message>
    <message>
        <source>Add a GGUF file…</source>
        <translation>GGUF-Datei hinzufügen …</translation>
    </message>
    <message>
        <source>The file stays where it is; nothing is copied.</source>
        <translation>Die Datei bleibt, wo sie ist; es wird nichts kopiert.</translation>
    </message>
    <message>
        <source>In the library</source>
        <translation>In der Bibliothek</translation>
    </message>
    <message>
        <source>See recommended pairs</source>
        <translation>Empfohlene Paare ansehen</translation>
    </message>
    <message>
        <source>No models yet</source>
        <translation>Noch keine Modelle</translation>
    </message>
    <message>
        <source>Download a pair, or add a GGUF file you already have. It is not copied.</source>
        <translation>Laden Sie ein Paar herunter, oder fügen Sie eine vorhandene GGUF-Datei hinzu; sie wird nicht kopiert.</translation>
    </message>
    <message>
        <source>Library</source>
        <translation>Bibliothek</translation>
    </message>
    <message>
        <source>Add</source>
        <translation>Hinzufügen</translation>
    </message>
    <message>
        <source>Add {name}</source>
        <translation>{name} hinzufügen</translation>
    </message>
    <message>
        <source>Found on this computer</source>
        <translation>Auf diesem Rechner gefunden</translation>
    </message>
</context>
<context>
    <name>LinkDialog</name>
    <message>
        <source>A model from a link</source>
        <translation>Ein Modell über einen Link</translation>
    </message>
    <message>
        <source>Address of the GGUF file</source>
        <translation>Adresse der GGUF-Datei</translation>
    </message>
    <message>
        <source>Paste the link of the GGUF file itself, not of its web page. If the server gives no checksum, the file cannot be verified. Nothing else is sent to that server.</source>
        <translation>Fügen Sie den Link der GGUF-Datei selbst ein, nicht den ihrer Webseite. Wenn der Server keine Prüfsumme nennt, kann die Datei nicht geprüft werden. Sonst wird nichts an diesen Server gesendet.</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>Abbrechen</translation>
    </message>
    <message>
        <source>Download and chat</source>
        <translation>Herunterladen und chatten</translation>
    </message>
</context>
<context>
    <name>LocalServer</name>
    <message numerus="yes">
        <source>{number} requests answered</source>
        <translation>
            <numerusform>{number} Anfrage beantwortet</numerusform>
            <numerusform>{number} Anfragen beantwortet</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{number} waiting</source>
        <translation>
            <numerusform>{number} wartet</numerusform>
            <numerusform>{number} warten</numerusform>
        </translation>
    </message>
    <message>
        <source>The server is off.</source>
        <translation>Der Server ist aus.</translation>
    </message>
    <message>
        <source>The server is starting.</source>
        <translation>Der Server startet.</translation>
    </message>
    <message>
        <source>A program&apos;s request is being answered; yours is next.</source>
        <translation>Die Anfrage eines Programms wird beantwortet; Ihre ist die nächste.</translation>
    </message>
    <message>
        <source>{number} requests of programs are being answered.</source>
        <translation>{number} Anfragen von Programmen werden beantwortet.</translation>
    </message>
    <message>
        <source>A program&apos;s request is being answered.</source>
        <translation>Die Anfrage eines Programms wird beantwortet.</translation>
    </message>
    <message>
        <source>{name} is loaded for a program. Your model comes back with your next message.</source>
        <translation>{name} ist für ein Programm geladen. Mit Ihrer nächsten Nachricht kommt Ihr Modell zurück.</translation>
    </message>
    <message>
        <source>The server is ready.</source>
        <translation>Der Server ist bereit.</translation>
    </message>
    <message>
        <source>Local server</source>
        <translation>Lokaler Server</translation>
    </message>
    <message>
        <source>Server off</source>
        <translation>Server aus</translation>
    </message>
    <message>
        <source>Server answering</source>
        <translation>Server antwortet</translation>
    </message>
    <message>
        <source>Server on</source>
        <translation>Server an</translation>
    </message>
    <message>
        <source>Local server: {state}</source>
        <translation>Lokaler Server: {state}</translation>
    </message>
</context>
<context>
    <name>MainWindow</name>
    <message>
        <source>Answer finished. {figures}</source>
        <translation>Antwort fertig. {figures}</translation>
    </message>
    <message>
        <source>Copied</source>
        <translation>Kopiert</translation>
    </message>
</context>
<context>
    <name>MessageCard</name>
    <message>
        <source>Stopped.</source>
        <translation>Gestoppt.</translation>
    </message>
    <message>
        <source>Interrupted before the answer was complete.</source>
        <translation>Unterbrochen, bevor die Antwort vollständig war.</translation>
    </message>
    <message>
        <source>The answer could not be completed.</source>
        <translation>Die Antwort konnte nicht fertiggestellt werden.</translation>
    </message>
    <message>
        <source>Message from {author}</source>
        <translation>Nachricht von {author}</translation>
    </message>
    <message>
        <source>More actions for this message</source>
        <translation>Weitere Aktionen für diese Nachricht</translation>
    </message>
</context>
<context>
    <name>MessageEdit</name>
    <message>
        <source>Message</source>
        <translation>Nachricht</translation>
    </message>
</context>
<context>
    <name>MessageEditor</name>
    <message>
        <source>Enter saves it as another version; the answer stays as it was. Shift+Enter begins a new line.</source>
        <translation>Die Eingabetaste speichert es als weitere Fassung; die Antwort bleibt, wie sie war. Umschalt+Eingabetaste beginnt eine neue Zeile.</translation>
    </message>
    <message>
        <source>Press Enter to send as a new version; the original is kept.</source>
        <translation>Die Eingabetaste sendet es als neue Fassung; das Original bleibt.</translation>
    </message>
    <message>
        <source>Files cannot be added to a sent message. Attach them to a new one.</source>
        <translation>Einer gesendeten Nachricht können keine Dateien hinzugefügt werden: Hängen Sie sie an eine neue an.</translation>
    </message>
    <message>
        <source>That text is too long to edit here. Paste it into a new message.</source>
        <translation>Dieser Text ist zu lang, um hier bearbeitet zu werden: Fügen Sie ihn in eine neue Nachricht ein.</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>Abbrechen</translation>
    </message>
    <message>
        <source>Send</source>
        <translation>Senden</translation>
    </message>
    <message>
        <source>Save</source>
        <translation>Speichern</translation>
    </message>
    <message>
        <source>{action}: the edited message</source>
        <translation>{action}: die bearbeitete Nachricht</translation>
    </message>
</context>
<context>
    <name>MessageMenu</name>
    <message>
        <source>Race this question…</source>
        <translation>Rennen mit dieser Frage …</translation>
    </message>
    <message>
        <source>New chat from here</source>
        <translation>Neuer Chat ab hier</translation>
    </message>
    <message>
        <source>Delete this message</source>
        <translation>Diese Nachricht löschen</translation>
    </message>
    <message>
        <source>Delete from here on</source>
        <translation>Ab hier löschen</translation>
    </message>
    <message>
        <source>Copy as Markdown</source>
        <translation>Als Markdown kopieren</translation>
    </message>
    <message>
        <source>Copy as text</source>
        <translation>Als Text kopieren</translation>
    </message>
    <message>
        <source>Copy with reasoning</source>
        <translation>Mit Gedankengang kopieren</translation>
    </message>
    <message>
        <source>Regenerate in mode</source>
        <translation>Neu erzeugen im Modus</translation>
    </message>
    <message>
        <source>Continue</source>
        <translation>Fortsetzen</translation>
    </message>
    <message>
        <source>Copy the seed</source>
        <translation>Seed kopieren</translation>
    </message>
    <message>
        <source>Copy</source>
        <translation>Kopieren</translation>
    </message>
    <message>
        <source>Edit</source>
        <translation>Bearbeiten</translation>
    </message>
    <message>
        <source>Repeat with seed {seed}</source>
        <translation>Mit Seed {seed} wiederholen</translation>
    </message>
    <message>
        <source>Copy selection</source>
        <translation>Auswahl kopieren</translation>
    </message>
    <message>
        <source>Copy link address</source>
        <translation>Adresse des Links kopieren</translation>
    </message>
</context>
<context>
    <name>ModeButton</name>
    <message>
        <source>How tokens are proposed</source>
        <translation>Wie Token vorgeschlagen werden</translation>
    </message>
    <message>
        <source>in use</source>
        <translation>in Gebrauch</translation>
    </message>
    <message>
        <source>Mode: {name}</source>
        <translation>Modus: {name}</translation>
    </message>
    <message>
        <source>{words}. Press {keys} for the next mode.</source>
        <translation>{words}. {keys} wählt den nächsten Modus.</translation>
    </message>
</context>
<context>
    <name>ModelController</name>
    <message>
        <source>{name} can also see pictures if its mmproj file is in the same folder. Add that file, and load the model again.</source>
        <translation>{name} kann auch Bilder sehen, wenn seine mmproj-Datei im selben Ordner liegt. Legen Sie sie dazu, und laden Sie das Modell neu.</translation>
    </message>
    <message>
        <source>{name} has no chat template. In a new chat you can let it continue your texts instead.</source>
        <translation>{name} hat keine Chat-Vorlage. In einem neuen Chat können Sie es stattdessen Ihre Texte fortsetzen lassen.</translation>
    </message>
    <message>
        <source>It could not be loaded.</source>
        <translation>Es konnte nicht geladen werden.</translation>
    </message>
    <message>
        <source>Choose another draft, or continue without one.</source>
        <translation>Wählen Sie ein anderes Entwurfsmodell, oder machen Sie ohne weiter.</translation>
    </message>
    <message>
        <source>The quick demo is used until you choose another model.</source>
        <translation>Bis Sie ein anderes Modell wählen, wird die schnelle Demo verwendet.</translation>
    </message>
</context>
<context>
    <name>ModelFileRow</name>
    <message>
        <source>No file</source>
        <translation>Keine Datei</translation>
    </message>
    <message>
        <source>browse for a file</source>
        <translation>Datei suchen</translation>
    </message>
    <message>
        <source>Browse…</source>
        <translation>Durchsuchen …</translation>
    </message>
    <message>
        <source>No folder</source>
        <translation>Kein Ordner</translation>
    </message>
    <message>
        <source>browse for a folder</source>
        <translation>Ordner suchen</translation>
    </message>
</context>
<context>
    <name>ModelPicker</name>
    <message>
        <source>draft: {name}</source>
        <translation>Entwurfsmodell: {name}</translation>
    </message>
    <message>
        <source>not reachable</source>
        <translation>nicht erreichbar</translation>
    </message>
    <message>
        <source>in use</source>
        <translation>in Gebrauch</translation>
    </message>
    <message>
        <source>Models</source>
        <translation>Modelle</translation>
    </message>
    <message>
        <source>No draft</source>
        <translation>Kein Entwurfsmodell</translation>
    </message>
    <message>
        <source>Draft for {name}</source>
        <translation>Entwurfsmodell für {name}</translation>
    </message>
    <message>
        <source>Models on this computer</source>
        <translation>Modelle auf diesem Rechner</translation>
    </message>
    <message>
        <source>Other programs on this computer</source>
        <translation>Andere Programme auf diesem Rechner</translation>
    </message>
    <message>
        <source>On remote servers (messages leave this computer)</source>
        <translation>Auf Remote-Servern (Nachrichten verlassen diesen Rechner)</translation>
    </message>
    <message>
        <source>More</source>
        <translation>Weiteres</translation>
    </message>
</context>
<context>
    <name>ModelsPanel</name>
    <message>
        <source> Back to the chat</source>
        <translation> Zurück zum Chat</translation>
    </message>
    <message>
        <source> Get started</source>
        <translation> Erste Schritte</translation>
    </message>
    <message>
        <source>Back to the chat</source>
        <translation>Zurück zum Chat</translation>
    </message>
    <message>
        <source>Back to the chat (Esc)</source>
        <translation>Zurück zum Chat (Esc)</translation>
    </message>
    <message>
        <source>Get started</source>
        <translation>Erste Schritte</translation>
    </message>
    <message>
        <source>The models that suit this computer</source>
        <translation>Die Modelle, die zu diesem Computer passen</translation>
    </message>
    <message>
        <source>Models</source>
        <translation>Modelle</translation>
    </message>
</context>
<context>
    <name>Modes</name>
    <message>
        <source>Not available: {reason}</source>
        <translation>Nicht verfügbar: {reason}</translation>
    </message>
    <message>
        <source>Needs: {words}</source>
        <translation>Braucht: {words}</translation>
    </message>
    <message>
        <source>Costs: {words}</source>
        <translation>Kostet: {words}</translation>
    </message>
    <message>
        <source>A second or two of measuring after a model is loaded, and an occasional pass to measure again.</source>
        <translation>Ein bis zwei Sekunden Messung nach dem Laden eines Modells und gelegentlich einen Durchlauf zum Nachmessen.</translation>
    </message>
    <message>
        <source>Nothing. With a draft model it has one more choice.</source>
        <translation>Nichts. Mit einem Entwurfsmodell hat es eine Wahl mehr.</translation>
    </message>
    <message>
        <source>Without drafting: one token per pass of the target. Other modes are compared with it.</source>
        <translation>Ohne Entwürfe: ein Token pro Durchlauf des Zielmodells. Andere Modi werden damit verglichen.</translation>
    </message>
    <message>
        <source>Nothing.</source>
        <translation>Nichts.</translation>
    </message>
    <message>
        <source>No extra work, and no gain.</source>
        <translation>Keine Mehrarbeit und kein Gewinn.</translation>
    </message>
    <message>
        <source>Text that repeats itself: code, quotations, lists, corrections. No second model.</source>
        <translation>Text, der sich wiederholt: Code, Zitate, Listen, Korrekturen. Kein zweites Modell.</translation>
    </message>
    <message>
        <source>Almost nothing; a wrong guess makes one pass a little longer.</source>
        <translation>Fast nichts; eine falsche Vermutung verlängert einen Durchlauf ein wenig.</translation>
    </message>
    <message>
        <source>The fastest method for each pass</source>
        <translation>Das schnellste Verfahren für jeden Durchlauf</translation>
    </message>
    <message>
        <source>Guesses the most frequent continuation</source>
        <translation>Rät die häufigste Fortsetzung</translation>
    </message>
    <message>
        <source>Chooses the method that should be fastest for each pass, or no drafting.</source>
        <translation>Wählt für jeden Durchlauf das voraussichtlich schnellste Verfahren; das kann auch ohne Entwürfe sein.</translation>
    </message>
    <message>
        <source>Drafts the words that followed the same words earlier in this chat.</source>
        <translation>Entwirft die Wörter, die früher in diesem Chat auf dieselben Wörter folgten.</translation>
    </message>
    <message>
        <source>Drafts the most frequent continuation of the longest match, here and in past chats if they may be used.</source>
        <translation>Entwirft die häufigste Fortsetzung der längsten Übereinstimmung, hier und, falls erlaubt, in früheren Chats.</translation>
    </message>
    <message>
        <source>Text that repeats itself, or resembles earlier text. No second model.</source>
        <translation>Text, der sich wiederholt oder früherem Text ähnelt. Kein zweites Modell.</translation>
    </message>
    <message>
        <source>A little memory for the index; a wrong guess makes one pass a little longer.</source>
        <translation>Etwas Speicher für den Index; eine falsche Vermutung verlängert einen Durchlauf ein wenig.</translation>
    </message>
    <message>
        <source>A small model drafts tokens, and the target checks them all in one pass.</source>
        <translation>Ein kleines Modell entwirft Token, und das Zielmodell prüft sie alle in einem Durchlauf.</translation>
    </message>
    <message>
        <source>A draft model, best with the target&apos;s vocabulary and a tenth of its size or less.</source>
        <translation>Ein Entwurfsmodell, am besten mit dem Vokabular des Zielmodells und höchstens ein Zehntel so groß.</translation>
    </message>
    <message>
        <source>Memory and time for its own passes; too large a draft makes answers slower.</source>
        <translation>Speicher und Zeit für seine eigenen Durchläufe; ist es zu groß, werden Antworten langsamer.</translation>
    </message>
    <message>
        <source>Layers that read the target&apos;s hidden state draft tokens; the target checks them in one pass.</source>
        <translation>Schichten, die den inneren Zustand des Zielmodells lesen, entwerfen Token; das Zielmodell prüft sie in einem Durchlauf.</translation>
    </message>
    <message>
        <source>A model with next-token layers (MTP), or a head made for this very model, chosen as the draft.</source>
        <translation>Ein Modell mit MTP-Schichten, oder einen Kopf, der für genau dieses Modell gemacht und als Entwurfsmodell gewählt ist.</translation>
    </message>
    <message>
        <source>Memory and time for one or a few layers; on some machines it makes answers slower.</source>
        <translation>Speicher und Zeit für eine oder wenige Schichten; auf manchen Rechnern werden Antworten damit langsamer.</translation>
    </message>
    <message>
        <source>off</source>
        <translation>aus</translation>
    </message>
    <message>
        <source>head</source>
        <translation>Kopf</translation>
    </message>
    <message>
        <source>Without drafting: the speed to compare with</source>
        <translation>Ohne Entwürfe: das Tempo zum Vergleich</translation>
    </message>
    <message>
        <source>Guesses from words used before in this chat</source>
        <translation>Rät nach früheren Worten in diesem Chat</translation>
    </message>
    <message>
        <source>A small model guesses ahead, the large one checks</source>
        <translation>Ein kleines Modell rät voraus, das große prüft</translation>
    </message>
    <message>
        <source>The model&apos;s own extra layers guess ahead</source>
        <translation>Eigene Zusatzschichten des Modells raten voraus</translation>
    </message>
    <message>
        <source>Off</source>
        <translation>Aus</translation>
    </message>
    <message>
        <source>N-gram</source>
        <translation>N-Gramm</translation>
    </message>
    <message>
        <source>Suffix</source>
        <translation>Suffix</translation>
    </message>
    <message>
        <source>Draft</source>
        <translation>Entwurf</translation>
    </message>
    <message>
        <source>Head</source>
        <translation>Kopf</translation>
    </message>
    <message>
        <source>Auto</source>
        <translation>Auto</translation>
    </message>
    <message>
        <source>n-gram</source>
        <translation>N-Gramm</translation>
    </message>
    <message>
        <source>suffix</source>
        <translation>Suffix</translation>
    </message>
    <message>
        <source>draft</source>
        <translation>Entwurf</translation>
    </message>
    <message>
        <source>auto</source>
        <translation>Auto</translation>
    </message>
</context>
<context>
    <name>NumberRow</name>
    <message>
        <source>, slider</source>
        <translation>, Schieberegler</translation>
    </message>
    <message>
        <source>a number</source>
        <translation>eine Zahl</translation>
    </message>
    <message>
        <source>a whole number</source>
        <translation>eine ganze Zahl</translation>
    </message>
    <message>
        <source>Enter {what}, {range}.</source>
        <translation>Bitte {what} angeben, {range}.</translation>
    </message>
    <message>
        <source>Enter a value, {range}.</source>
        <translation>Bitte einen Wert angeben: {range}.</translation>
    </message>
</context>
<context>
    <name>OtherModelSources</name>
    <message>
        <source>Search a folder…</source>
        <translation>Ordner durchsuchen …</translation>
    </message>
    <message>
        <source>Finds GGUF files, and Ollama&apos;s models. Nothing is copied or changed.</source>
        <translation>Findet GGUF-Dateien und Modelle von Ollama. Nichts wird kopiert oder verändert.</translation>
    </message>
    <message>
        <source>From a link…</source>
        <translation>Über einen Link …</translation>
    </message>
    <message>
        <source>Downloads a GGUF file from any https address.</source>
        <translation>Lädt eine GGUF-Datei von einer beliebigen https-Adresse herunter.</translation>
    </message>
    <message>
        <source>Search a folder for models</source>
        <translation>Einen Ordner nach Modellen durchsuchen</translation>
    </message>
</context>
<context>
    <name>PairCard</name>
    <message>
        <source>Only the target is offered: it needs no draft model, and n-gram mode works with it.</source>
        <translation>Es wird nur das Zielmodell angeboten: Es braucht kein Entwurfsmodell, und der N-Gramm-Modus funktioniert mit ihm.</translation>
    </message>
    <message>
        <source>on this computer</source>
        <translation>auf diesem Rechner</translation>
    </message>
    <message>
        <source>downloading</source>
        <translation>wird heruntergeladen</translation>
    </message>
    <message>
        <source>Download</source>
        <translation>Herunterladen</translation>
    </message>
    <message>
        <source>Target</source>
        <translation>Zielmodell</translation>
    </message>
    <message>
        <source>Draft heads in its own file (MTP)</source>
        <translation>Entwurfsköpfe in der eigenen Datei (MTP)</translation>
    </message>
    <message>
        <source>Chat</source>
        <translation>Chatten</translation>
    </message>
    <message>
        <source>Draft</source>
        <translation>Entwurfsmodell</translation>
    </message>
    <message>
        <source>Draft head</source>
        <translation>Entwurfskopf</translation>
    </message>
    <message>
        <source>Search for another</source>
        <translation>Anderes suchen</translation>
    </message>
    <message>
        <source>No draft model: only repeated text is drafted (n-gram)</source>
        <translation>Kein Entwurfsmodell: Nur wiederholter Text wird entworfen (N-Gramm)</translation>
    </message>
    <message>
        <source>Download and chat</source>
        <translation>Herunterladen und chatten</translation>
    </message>
    <message>
        <source>See the downloads</source>
        <translation>Downloads ansehen</translation>
    </message>
</context>
<context>
    <name>PassTip</name>
    <message>
        <source>sampled instead</source>
        <translation>stattdessen gewählt</translation>
    </message>
    <message>
        <source>sampled by the target alone, nothing was proposed</source>
        <translation>vom Zielmodell allein gewählt, es war nichts vorgeschlagen</translation>
    </message>
    <message>
        <source>sampled in place of a rejected one</source>
        <translation>anstelle eines abgelehnten gewählt</translation>
    </message>
    <message>
        <source>One pass of the target.</source>
        <translation>Ein Durchlauf des Zielmodells.</translation>
    </message>
    <message>
        <source>one more, because all were accepted</source>
        <translation>noch eins, weil alle akzeptiert wurden</translation>
    </message>
    <message>
        <source>One pass of the target, in which the answer ended.</source>
        <translation>Ein Durchlauf des Zielmodells, in dem die Antwort endete.</translation>
    </message>
    <message>
        <source>Probabilities after temperature, top-k, top-p and min-p.</source>
        <translation>Wahrscheinlichkeiten nach Temperatur, Top-k, Top-p und Min-p.</translation>
    </message>
    <message>
        <source>accepted</source>
        <translation>akzeptiert</translation>
    </message>
    <message>
        <source>not checked</source>
        <translation>nicht geprüft</translation>
    </message>
    <message>
        <source>rejected</source>
        <translation>abgelehnt</translation>
    </message>
    <message>
        <source>decided again by the target alone, because two tokens were nearly tied</source>
        <translation>vom Zielmodell allein neu entschieden, weil zwei Token fast gleich wahrscheinlich waren</translation>
    </message>
    <message>
        <source>the most likely</source>
        <translation>das wahrscheinlichste</translation>
    </message>
    <message>
        <source>not the most likely</source>
        <translation>nicht das wahrscheinlichste</translation>
    </message>
    <message>
        <source>draft {share}</source>
        <translation>Entwurf {share}</translation>
    </message>
    <message>
        <source>from text</source>
        <translation>aus dem Text</translation>
    </message>
    <message>
        <source>target {share}</source>
        <translation>Zielmodell {share}</translation>
    </message>
    <message>
        <source>(part of a character)</source>
        <translation>(Teil eines Zeichens)</translation>
    </message>
    <message numerus="yes">
        <source>One pass of the target: {accepted} of %n proposed tokens accepted.</source>
        <translation>
            <numerusform>Ein Durchlauf des Zielmodells: {accepted} von %n vorgeschlagenen Token akzeptiert.</numerusform>
            <numerusform>Ein Durchlauf des Zielmodells: {accepted} von %n vorgeschlagenen Token akzeptiert.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>and %n more tokens</source>
        <translation>
            <numerusform>und %n weiteres Token</numerusform>
            <numerusform>und %n weitere Token</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>PassTipKeys</name>
    <message>
        <source>No pass is recorded here.</source>
        <translation>Zu dieser Stelle ist kein Durchlauf vermerkt.</translation>
    </message>
</context>
<context>
    <name>PictureViewer</name>
    <message>
        <source>Copy</source>
        <translation>Kopieren</translation>
    </message>
    <message>
        <source>Save as…</source>
        <translation>Speichern unter …</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Schließen</translation>
    </message>
    <message>
        <source>Save the picture</source>
        <translation>Bild speichern</translation>
    </message>
    <message>
        <source>It could not be saved: {reason}.</source>
        <translation>Es konnte nicht gespeichert werden: {reason}.</translation>
    </message>
    <message>
        <source>Not saved</source>
        <translation>Nicht gespeichert</translation>
    </message>
</context>
<context>
    <name>Place</name>
    <message>
        <source>Recommended</source>
        <translation>Empfohlen</translation>
    </message>
    <message>
        <source>Search</source>
        <translation>Suche</translation>
    </message>
    <message>
        <source>Library</source>
        <translation>Bibliothek</translation>
    </message>
    <message>
        <source>Downloads</source>
        <translation>Downloads</translation>
    </message>
    <message>
        <source>Remote servers</source>
        <translation>Remote-Server</translation>
    </message>
</context>
<context>
    <name>Presets</name>
    <message>
        <source>Precise</source>
        <translation>Genau</translation>
    </message>
    <message>
        <source>Balanced</source>
        <translation>Ausgewogen</translation>
    </message>
    <message>
        <source>Creative</source>
        <translation>Kreativ</translation>
    </message>
    <message>
        <source>none</source>
        <translation>keine</translation>
    </message>
    <message>
        <source>Preset: {name}</source>
        <translation>Voreinstellung: {name}</translation>
    </message>
    <message>
        <source>Presets, active: {name}</source>
        <translation>Voreinstellungen, aktiv: {name}</translation>
    </message>
    <message>
        <source>Save these values as a preset…</source>
        <translation>Diese Werte als Voreinstellung speichern …</translation>
    </message>
    <message>
        <source>Rename</source>
        <translation>Umbenennen</translation>
    </message>
    <message>
        <source>Delete</source>
        <translation>Löschen</translation>
    </message>
    <message>
        <source>Presets</source>
        <translation>Voreinstellungen</translation>
    </message>
    <message>
        <source>Saves the sampling settings and the system prompt shown here. It replaces your preset of the same name.</source>
        <translation>Speichert die Sampling-Werte und den Systemprompt, die hier stehen. Eine eigene Voreinstellung dieses Namens wird ersetzt.</translation>
    </message>
    <message>
        <source>Save as a preset</source>
        <translation>Als Voreinstellung speichern</translation>
    </message>
    <message>
        <source>Save</source>
        <translation>Speichern</translation>
    </message>
    <message>
        <source>A new name for “{name}”.</source>
        <translation>Ein neuer Name für „{name}“.</translation>
    </message>
    <message>
        <source>Rename the preset</source>
        <translation>Voreinstellung umbenennen</translation>
    </message>
    <message>
        <source>“{name}” will be deleted. Chats that use its values keep them.</source>
        <translation>„{name}“ wird gelöscht. Chats, die ihre Werte verwenden, behalten sie.</translation>
    </message>
    <message>
        <source>Delete this preset?</source>
        <translation>Diese Voreinstellung löschen?</translation>
    </message>
    <message>
        <source>Name</source>
        <translation>Name</translation>
    </message>
</context>
<context>
    <name>Problems</name>
    <message>
        <source>Something needs your attention</source>
        <translation>Etwas braucht Ihre Aufmerksamkeit</translation>
    </message>
    <message>
        <source>Something went wrong inside Paceline</source>
        <translation>In Paceline ist etwas schiefgegangen</translation>
    </message>
    <message>
        <source>Your chats are saved. If something looks odd, restart Paceline.</source>
        <translation>Ihre Chats sind gespeichert. Falls etwas seltsam aussieht, starten Sie Paceline neu.</translation>
    </message>
    <message>
        <source>The file could not be attached</source>
        <translation>Die Datei konnte nicht angehängt werden</translation>
    </message>
    <message>
        <source>Attach another file, or paste the part that matters.</source>
        <translation>Hängen Sie eine andere Datei an, oder fügen Sie den wichtigen Teil ein.</translation>
    </message>
    <message>
        <source>Check that it is still there and that you may read it.</source>
        <translation>Prüfen Sie, ob sie noch da ist und ob Sie sie lesen dürfen.</translation>
    </message>
    <message>
        <source>Attach the part that matters, or paste it into the message.</source>
        <translation>Hängen Sie den wichtigen Teil an, oder fügen Sie ihn in die Nachricht ein.</translation>
    </message>
    <message>
        <source>Choose another file.</source>
        <translation>Wählen Sie eine andere Datei.</translation>
    </message>
    <message>
        <source>Save a copy without a password, and attach that.</source>
        <translation>Speichern Sie eine Kopie ohne Passwort, und hängen Sie diese an.</translation>
    </message>
    <message>
        <source>Not all files were attached</source>
        <translation>Nicht alle Dateien wurden angehängt</translation>
    </message>
    <message>
        <source>Remove some, or send them in several messages.</source>
        <translation>Entfernen Sie einige, oder senden Sie sie in mehreren Nachrichten.</translation>
    </message>
    <message>
        <source>Attach it again if you need it.</source>
        <translation>Hängen Sie sie bei Bedarf erneut an.</translation>
    </message>
    <message>
        <source>Choose it again in its new location.</source>
        <translation>Wählen Sie sie an ihrem jetzigen Ort erneut.</translation>
    </message>
    <message>
        <source>Attach the files in it that matter.</source>
        <translation>Hängen Sie die wichtigen Dateien daraus an.</translation>
    </message>
    <message>
        <source>Attach a file.</source>
        <translation>Hängen Sie eine Datei an.</translation>
    </message>
    <message>
        <source>{file} cannot be written.</source>
        <translation>{file} kann nicht geschrieben werden.</translation>
    </message>
    <message>
        <source>A conversation in this file has too many messages.</source>
        <translation>Eine Unterhaltung dieser Datei hat zu viele Nachrichten.</translation>
    </message>
    <message>
        <source>This file was written by a newer Paceline.</source>
        <translation>Diese Datei wurde von einem neueren Paceline geschrieben.</translation>
    </message>
    <message>
        <source>Import it with that version.</source>
        <translation>Importieren Sie sie mit jener Version.</translation>
    </message>
    <message>
        <source>This export of Paceline contains no list of conversations.</source>
        <translation>Dieser Paceline-Export enthält keine Liste von Unterhaltungen.</translation>
    </message>
    <message>
        <source>An entry in this file is not a valid message.</source>
        <translation>Ein Eintrag dieser Datei ist keine gültige Nachricht.</translation>
    </message>
    <message>
        <source>A message in this file has no number or role.</source>
        <translation>Eine Nachricht dieser Datei hat keine Nummer oder Rolle.</translation>
    </message>
    <message>
        <source>A message in this file follows one that is missing.</source>
        <translation>Eine Nachricht dieser Datei folgt auf eine, die fehlt.</translation>
    </message>
    <message>
        <source>There is no chat to export.</source>
        <translation>Es gibt keinen Chat zum Exportieren.</translation>
    </message>
    <message>
        <source>Nothing was written.</source>
        <translation>Es wurde nichts geschrieben.</translation>
    </message>
    <message>
        <source>Choose another one.</source>
        <translation>Wählen Sie einen anderen.</translation>
    </message>
    <message>
        <source>There is no earlier copy.</source>
        <translation>Eine frühere Kopie gibt es nicht.</translation>
    </message>
    <message>
        <source>Install the newer Paceline again, and rename the kept file to {file} for it.</source>
        <translation>Installieren Sie wieder das neuere Paceline, und benennen Sie die aufbewahrte Datei dafür in {file} um.</translation>
    </message>
    <message>
        <source>The stored chats can be read, but new messages are kept only until Paceline is closed.</source>
        <translation>Die gespeicherten Chats lassen sich lesen, aber neue Nachrichten bleiben nur erhalten, bis Paceline geschlossen wird.</translation>
    </message>
    <message>
        <source>Open the chat again.</source>
        <translation>Öffnen Sie den Chat erneut.</translation>
    </message>
    <message>
        <source>The chats are closed.</source>
        <translation>Die Chats sind geschlossen.</translation>
    </message>
    <message>
        <source>The chats are being closed.</source>
        <translation>Die Chats werden gerade geschlossen.</translation>
    </message>
    <message>
        <source>The chats were closed before this was saved.</source>
        <translation>Die Chats wurden geschlossen, bevor dies gespeichert war.</translation>
    </message>
    <message>
        <source>Check the library folder.</source>
        <translation>Prüfen Sie den Bibliotheksordner.</translation>
    </message>
    <message>
        <source>Download it again.</source>
        <translation>Laden Sie es erneut herunter.</translation>
    </message>
    <message>
        <source>No model is loaded</source>
        <translation>Es ist kein Modell geladen</translation>
    </message>
    <message>
        <source>A model is needed to answer.</source>
        <translation>Zum Antworten wird ein Modell gebraucht.</translation>
    </message>
    <message>
        <source>Open a GGUF file or start the quick demo.</source>
        <translation>Öffnen Sie eine GGUF-Datei, oder starten Sie die schnelle Demo.</translation>
    </message>
    <message>
        <source>Paceline could not continue</source>
        <translation>Paceline konnte nicht weitermachen</translation>
    </message>
    <message>
        <source>Try again; if it happens again, restart Paceline.</source>
        <translation>Versuchen Sie es erneut; geschieht es wieder, starten Sie Paceline neu.</translation>
    </message>
    <message>
        <source>The settings could not be saved</source>
        <translation>Die Einstellungen konnten nicht gespeichert werden</translation>
    </message>
    <message>
        <source>A message can have {limit} attachments; {num_files} more were chosen.</source>
        <translation>Eine Nachricht kann {limit} Anhänge haben; {num_files} mehr wurden gewählt.</translation>
    </message>
    <message>
        <source>a picture</source>
        <translation>ein Bild</translation>
    </message>
    <message>
        <source>an office document or a packed archive</source>
        <translation>ein Office-Dokument oder ein gepacktes Archiv</translation>
    </message>
    <message>
        <source>an office document</source>
        <translation>ein Office-Dokument</translation>
    </message>
    <message>
        <source>a packed archive</source>
        <translation>ein gepacktes Archiv</translation>
    </message>
    <message>
        <source>a program</source>
        <translation>ein Programm</translation>
    </message>
    <message>
        <source>a database</source>
        <translation>eine Datenbank</translation>
    </message>
    <message>
        <source>a model</source>
        <translation>ein Modell</translation>
    </message>
    <message>
        <source>“{name}” contains NUL bytes: it is a binary file, or damaged.</source>
        <translation>„{name}“ enthält NUL-Bytes: Es ist eine Binärdatei oder beschädigt.</translation>
    </message>
    <message>
        <source>“{name}” is a binary file, not text.</source>
        <translation>„{name}“ ist eine Binärdatei, kein Text.</translation>
    </message>
    <message>
        <source>“{name}” contains NUL characters: it is a binary file, or damaged.</source>
        <translation>„{name}“ enthält NUL-Zeichen: Es ist eine Binärdatei oder beschädigt.</translation>
    </message>
    <message>
        <source>“{name}” is {what}, not text.</source>
        <translation>„{name}“ ist {what}, kein Text.</translation>
    </message>
    <message>
        <source>“{name}” begins like {encoding} text, but is not.</source>
        <translation>„{name}“ beginnt wie {encoding}-Text, ist aber keiner.</translation>
    </message>
    <message>
        <source>Recognise its text first (OCR), or paste the text that matters.</source>
        <translation>Lassen Sie den Text erst erkennen (OCR), oder fügen Sie den Text ein, auf den es ankommt.</translation>
    </message>
    <message>
        <source>{empty} of the {pages} pages of “{name}” have no text that could be read.</source>
        <translation>{empty} der {pages} Seiten von „{name}“ haben keinen lesbaren Text.</translation>
    </message>
    <message>
        <source>“{name}” has no text: its pages are scanned images.</source>
        <translation>„{name}“ hat keinen Text: Die Seiten sind eingescannte Bilder.</translation>
    </message>
    <message>
        <source>“{name}” is password-protected.</source>
        <translation>„{name}“ ist durch ein Passwort geschützt.</translation>
    </message>
    <message>
        <source>“{name}” has more than {limit:,} characters of text.</source>
        <translation>„{name}“ hat mehr als {limit:,} Zeichen Text.</translation>
    </message>
    <message>
        <source>“{name}” no longer exists or cannot be read.</source>
        <translation>„{name}“ ist nicht mehr da oder kann nicht gelesen werden.</translation>
    </message>
    <message>
        <source>“{name}” could not be read: it took too much memory, or reading stopped unexpectedly.</source>
        <translation>„{name}“ konnte nicht gelesen werden: Das Lesen brauchte zu viel Speicher oder brach ab.</translation>
    </message>
    <message>
        <source>“{name}” could not be read within {limit_s:.0f} seconds.</source>
        <translation>„{name}“ konnte nicht innerhalb von {limit_s:.0f} Sekunden gelesen werden.</translation>
    </message>
    <message>
        <source>Reading “{name}” was cancelled.</source>
        <translation>Das Lesen von „{name}“ wurde abgebrochen.</translation>
    </message>
    <message>
        <source>“{name}” could not be read ({kind}).</source>
        <translation>„{name}“ konnte nicht gelesen werden ({kind}).</translation>
    </message>
    <message>
        <source>“{name}” cannot be read: {reason}.</source>
        <translation>„{name}“ kann nicht gelesen werden: {reason}.</translation>
    </message>
    <message>
        <source>“{name}” is {num_bytes}; the limit for this kind of file is {limit}.</source>
        <translation>„{name}“ hat {num_bytes}; eine Datei dieser Art darf höchstens {limit} haben.</translation>
    </message>
    <message>
        <source>“{name}” is empty.</source>
        <translation>„{name}“ ist leer.</translation>
    </message>
    <message>
        <source>“{name}” has {num_text:,} characters; the limit for an attachment is {limit:,}.</source>
        <translation>„{name}“ hat {num_text:,} Zeichen; ein Anhang darf höchstens {limit:,} haben.</translation>
    </message>
    <message>
        <source>“{name}” no longer exists.</source>
        <translation>„{name}“ ist nicht mehr da.</translation>
    </message>
    <message>
        <source>“{name}” is a folder.</source>
        <translation>„{name}“ ist ein Ordner.</translation>
    </message>
    <message>
        <source>“{name}” is not a regular file.</source>
        <translation>„{name}“ ist keine gewöhnliche Datei.</translation>
    </message>
    <message>
        <source>“{name}” is not a valid file name.</source>
        <translation>„{name}“ ist kein gültiger Dateiname.</translation>
    </message>
    <message>
        <source>The copy {file} could not be made: {error}.</source>
        <translation>Die Kopie {file} konnte nicht angelegt werden: {error}.</translation>
    </message>
    <message>
        <source>SQLite found damage: {finding}.</source>
        <translation>SQLite fand einen Schaden: {finding}.</translation>
    </message>
    <message>
        <source>{file} cannot be read as a chats file.</source>
        <translation>{file} kann nicht als Chat-Datei gelesen werden.</translation>
    </message>
    <message>
        <source>There is no space left in {folder}.</source>
        <translation>In {folder} ist kein Platz mehr.</translation>
    </message>
    <message>
        <source>Another program is using {file}.</source>
        <translation>Ein anderes Programm benutzt {file}.</translation>
    </message>
    <message>
        <source>{file} cannot be read as a chats file ({error}).</source>
        <translation>{file} kann nicht als Chat-Datei gelesen werden ({error}).</translation>
    </message>
    <message>
        <source>The database does not accept {name} = {value}: it reports {found}.</source>
        <translation>Die Datenbank nimmt {name} = {value} nicht an: Sie meldet {found}.</translation>
    </message>
    <message>
        <source>{name} is not an export from Paceline, ChatGPT or LM Studio.</source>
        <translation>{name} ist kein Export von Paceline, ChatGPT oder LM Studio.</translation>
    </message>
    <message>
        <source>{file} contains no conversations.</source>
        <translation>{file} enthält keine Unterhaltung.</translation>
    </message>
    <message>
        <source>{file} contains more than {limit:,} conversations.</source>
        <translation>{file} enthält mehr als {limit:,} Unterhaltungen.</translation>
    </message>
    <message>
        <source>{name} is larger than {limit} MB.</source>
        <translation>{name} ist größer als {limit} MB.</translation>
    </message>
    <message>
        <source>{file} cannot be read ({error}).</source>
        <translation>{file} kann nicht gelesen werden ({error}).</translation>
    </message>
    <message>
        <source>{file} unpacks to more than {limit} MB.</source>
        <translation>{file} ist entpackt größer als {limit} MB.</translation>
    </message>
    <message>
        <source>{name} is not a JSON file that Paceline can read.</source>
        <translation>{name} ist keine JSON-Datei, die Paceline lesen kann.</translation>
    </message>
    <message>
        <source>A message has more than {limit:,} characters.</source>
        <translation>Eine Nachricht hat mehr als {limit:,} Zeichen.</translation>
    </message>
    <message>
        <source>1 chat imported.</source>
        <translation>1 Chat wurde importiert.</translation>
    </message>
    <message>
        <source>{number:,} chats imported.</source>
        <translation>{number:,} Chats wurden importiert.</translation>
    </message>
    <message>
        <source>{number:,} already existed.</source>
        <translation>{number:,} waren schon da.</translation>
    </message>
    <message>
        <source>{file} cannot be written ({reason}).</source>
        <translation>{file} kann nicht geschrieben werden ({reason}).</translation>
    </message>
    <message>
        <source>1 already existed.</source>
        <translation>1 war schon da.</translation>
    </message>
    <message>
        <source>Earlier copies are in {folder}.</source>
        <translation>Frühere Kopien liegen in {folder}.</translation>
    </message>
    <message>
        <source>A new, empty one was opened.</source>
        <translation>Eine neue, leere Datei wurde geöffnet.</translation>
    </message>
    <message>
        <source>The copy {copy} was opened instead.</source>
        <translation>Stattdessen wurde die Kopie {copy} geöffnet.</translation>
    </message>
    <message>
        <source>New messages are kept only until Paceline is closed.</source>
        <translation>Neue Nachrichten bleiben nur erhalten, bis Paceline geschlossen wird.</translation>
    </message>
    <message>
        <source>{file} has format version {found}; this Paceline supports up to {known}.</source>
        <translation>{file} hat die Formatversion {found}; dieses Paceline unterstützt sie bis {known}.</translation>
    </message>
    <message>
        <source>{file} does not have the tables of a chats file.</source>
        <translation>{file} hat nicht die Tabellen einer Chat-Datei.</translation>
    </message>
    <message>
        <source>It could not be replaced: {error}.</source>
        <translation>Sie konnte nicht ersetzt werden: {error}.</translation>
    </message>
    <message>
        <source>It is kept as {aside}.</source>
        <translation>Sie wird als {aside} aufbewahrt.</translation>
    </message>
    <message>
        <source>They apply until Paceline is closed. Check the free space and the folder&apos;s permissions.</source>
        <translation>Sie gelten, bis Paceline geschlossen wird. Prüfen Sie den freien Platz und die Rechte des Ordners.</translation>
    </message>
    <message>
        <source>The preset was not changed</source>
        <translation>Die Voreinstellung wurde nicht geändert</translation>
    </message>
    <message>
        <source>The chats could not be exported</source>
        <translation>Die Chats konnten nicht exportiert werden</translation>
    </message>
    <message>
        <source>Choose another location, or free some space.</source>
        <translation>Wählen Sie einen anderen Ort, oder schaffen Sie Platz.</translation>
    </message>
    <message>
        <source>The file could not be imported</source>
        <translation>Die Datei konnte nicht importiert werden</translation>
    </message>
    <message>
        <source>The chats could not be saved</source>
        <translation>Die Chats konnten nicht gespeichert werden</translation>
    </message>
    <message>
        <source>Check the disk and the folder&apos;s permissions; Paceline keeps trying.</source>
        <translation>Prüfen Sie das Laufwerk und die Rechte des Ordners; Paceline versucht es weiter.</translation>
    </message>
    <message>
        <source>The disk is full</source>
        <translation>Die Festplatte ist voll</translation>
    </message>
    <message>
        <source>Free some space. Unsaved changes stay in memory and are saved then.</source>
        <translation>Schaffen Sie Platz; was noch nicht gespeichert ist, bleibt im Speicher und wird dann gespeichert.</translation>
    </message>
    <message>
        <source>The chats are in use</source>
        <translation>Die Chats sind in Gebrauch</translation>
    </message>
    <message>
        <source>Close the other Paceline and start this one again.</source>
        <translation>Schließen Sie das andere Paceline, und starten Sie dieses neu.</translation>
    </message>
    <message>
        <source>The chats cannot be saved here</source>
        <translation>Die Chats können hier nicht gespeichert werden</translation>
    </message>
    <message>
        <source>Allow writing to the folder, or set PACELINE_HOME to another one, and start again.</source>
        <translation>Erlauben Sie das Schreiben in den Ordner, oder setzen Sie PACELINE_HOME auf einen anderen, und starten Sie neu.</translation>
    </message>
    <message>
        <source>The chats file was damaged</source>
        <translation>Die Chat-Datei war beschädigt</translation>
    </message>
    <message>
        <source>The chats are from a newer Paceline</source>
        <translation>Die Chats stammen von einem neueren Paceline</translation>
    </message>
    <message>
        <source>The chats could not be backed up</source>
        <translation>Die Chats konnten nicht gesichert werden</translation>
    </message>
    <message>
        <source>Check the free space in the folder of the backups.</source>
        <translation>Prüfen Sie den freien Platz im Ordner der Sicherungen.</translation>
    </message>
    <message>
        <source>The hub gave an invalid address.</source>
        <translation>Der Hub nannte eine ungültige Adresse.</translation>
    </message>
    <message>
        <source>The hub redirects to an unencrypted address.</source>
        <translation>Der Hub leitet auf eine unverschlüsselte Adresse um.</translation>
    </message>
    <message>
        <source>The hub redirects to an invalid address.</source>
        <translation>Der Hub leitet auf eine ungültige Adresse um.</translation>
    </message>
    <message>
        <source>{variable} is not set to an http or https address.</source>
        <translation>{variable} ist nicht auf eine http- oder https-Adresse gesetzt.</translation>
    </message>
    <message>
        <source>Correct {variable}, or unset it.</source>
        <translation>Berichtigen Sie {variable}, oder entfernen Sie die Variable.</translation>
    </message>
    <message>
        <source>{name} is set, so the hub is not contacted.</source>
        <translation>{name} ist gesetzt, daher wird der Hub nicht angefragt.</translation>
    </message>
    <message>
        <source>Unset {name} to reach the hub.</source>
        <translation>Entfernen Sie die Variable {name}, um den Hub zu erreichen.</translation>
    </message>
    <message>
        <source>The hub&apos;s answer to the search is not a list.</source>
        <translation>Die Antwort des Hubs auf die Suche ist keine Liste.</translation>
    </message>
    <message>
        <source>The hub sent something that is not JSON.</source>
        <translation>Der Hub hat etwas gesendet, das kein JSON ist.</translation>
    </message>
    <message>
        <source>The hub&apos;s answer about {repo_id} does not describe a repository.</source>
        <translation>Die Antwort des Hubs zu {repo_id} beschreibt kein Repository.</translation>
    </message>
    <message>
        <source>{repo} no longer holds {file}.</source>
        <translation>{repo} enthält {file} nicht mehr.</translation>
    </message>
    <message>
        <source>{repo} is no longer on the hub.</source>
        <translation>{repo} gibt es im Hub nicht mehr.</translation>
    </message>
    <message>
        <source>It could not be checked: {reason}</source>
        <translation>Es konnte nicht geprüft werden: {reason}</translation>
    </message>
    <message>
        <source>Correct HTTPS_PROXY, HTTP_PROXY and ALL_PROXY.</source>
        <translation>Berichtigen Sie HTTPS_PROXY, HTTP_PROXY und ALL_PROXY.</translation>
    </message>
    <message>
        <source>The hub redirects without end for {what}.</source>
        <translation>Der Hub leitet für {what} endlos weiter.</translation>
    </message>
    <message>
        <source>The hub&apos;s answer about {what} is far too long.</source>
        <translation>Die Antwort des Hubs zu {what} ist viel zu lang.</translation>
    </message>
    <message>
        <source>Disk error: {reason}.</source>
        <translation>Fehler des Laufwerks: {reason}.</translation>
    </message>
    <message>
        <source>a table for quantizing another model</source>
        <translation>eine Tabelle zum Quantisieren eines anderen Modells</translation>
    </message>
    <message>
        <source>a vocabulary without weights</source>
        <translation>ein Vokabular ohne Gewichte</translation>
    </message>
    <message>
        <source>an adapter (LoRA) for another model</source>
        <translation>ein Adapter (LoRA) für ein anderes Modell</translation>
    </message>
    <message>
        <source>{num_files} files could not be attached</source>
        <translation>{num_files} Dateien konnten nicht angehängt werden</translation>
    </message>
    <message>
        <source>A message can have {limit} attachments; 1 more was chosen.</source>
        <translation>Eine Nachricht kann {limit} Anhänge haben; 1 weiterer wurde gewählt.</translation>
    </message>
    <message>
        <source>{num_more} more could not be attached either.</source>
        <translation>{num_more} weitere konnten ebenfalls nicht angehängt werden.</translation>
    </message>
    <message>
        <source>1 of the {pages} pages of “{name}” has no text that could be read.</source>
        <translation>1 der {pages} Seiten von „{name}“ hat keinen lesbaren Text.</translation>
    </message>
    <message>
        <source>{file} contains too many files for an export.</source>
        <translation>{file} enthält zu viele Dateien für einen Export.</translation>
    </message>
    <message>
        <source>{file} is not a regular file.</source>
        <translation>{file} ist keine gewöhnliche Datei.</translation>
    </message>
    <message>
        <source>{file} is a folder.</source>
        <translation>{file} ist ein Ordner.</translation>
    </message>
    <message>
        <source>{file} is empty.</source>
        <translation>{file} ist leer.</translation>
    </message>
    <message>
        <source>{file} is missing.</source>
        <translation>{file} fehlt.</translation>
    </message>
    <message>
        <source>This message no longer exists.</source>
        <translation>Diese Nachricht gibt es nicht mehr.</translation>
    </message>
    <message>
        <source>The hub could not be contacted</source>
        <translation>Der Hub war nicht zu erreichen</translation>
    </message>
    <message>
        <source>The system does not allow the server to use port {port}.</source>
        <translation>Das System erlaubt dem Server nicht, Port {port} zu benutzen.</translation>
    </message>
    <message>
        <source>“{name}” is damaged, or not the kind of file that its name says.</source>
        <translation>„{name}“ ist beschädigt oder keine Datei der Art, die der Name angibt.</translation>
    </message>
    <message>
        <source>{name} is not a device name; separate several names with commas.</source>
        <translation>{name} ist kein Gerätename; trennen Sie mehrere durch Kommas.</translation>
    </message>
    <message>
        <source>The other program could not be measured</source>
        <translation>Das andere Programm konnte nicht gemessen werden</translation>
    </message>
    <message>
        <source>{text} is not a name such as host.docker.internal.</source>
        <translation>{text} ist kein Name wie host.docker.internal.</translation>
    </message>
    <message>
        <source>{name} is not a valid variable name.</source>
        <translation>{name} ist kein gültiger Variablenname.</translation>
    </message>
    <message>
        <source>“{name}” is not UTF-8 and was read as Western European text. If letters look wrong, save it as UTF-8.</source>
        <translation>„{name}“ ist kein UTF-8 und wurde als westeuropäischer Text gelesen. Falls Buchstaben falsch aussehen, speichern Sie die Datei als UTF-8.</translation>
    </message>
    <message>
        <source>The received data was discarded. Check the link.</source>
        <translation>Die empfangenen Daten wurden verworfen. Prüfen Sie den Link.</translation>
    </message>
    <message>
        <source>The download of {path} was never started.</source>
        <translation>Der Download von {path} wurde nie begonnen.</translation>
    </message>
    <message>
        <source>More bytes came than announced.</source>
        <translation>Es kamen mehr Bytes als angekündigt.</translation>
    </message>
    <message>
        <source>Offline mode is on</source>
        <translation>Der Offline-Modus ist an</translation>
    </message>
    <message>
        <source>Unset HF_HUB_OFFLINE to reach the hub; models on this computer work without it.</source>
        <translation>Entfernen Sie die Variable HF_HUB_OFFLINE, um den Hub zu erreichen; Modelle auf diesem Rechner funktionieren auch ohne ihn.</translation>
    </message>
    <message>
        <source>Try again in a few minutes.</source>
        <translation>Versuchen Sie es in einigen Minuten erneut.</translation>
    </message>
    <message>
        <source>This repository is gated</source>
        <translation>Dieses Repository ist zugangsbeschränkt</translation>
    </message>
    <message>
        <source>Accept its terms on its hub page, and give Paceline an access token (or set HF_TOKEN).</source>
        <translation>Stimmen Sie auf seiner Seite im Hub den Bedingungen zu, und geben Sie Paceline ein Zugangstoken (oder setzen Sie HF_TOKEN).</translation>
    </message>
    <message>
        <source>Not found on the hub</source>
        <translation>Im Hub nicht gefunden</translation>
    </message>
    <message>
        <source>Check the spelling; it may also have been renamed, removed or made private.</source>
        <translation>Prüfen Sie die Schreibweise; es kann auch umbenannt, entfernt oder privat geworden sein.</translation>
    </message>
    <message>
        <source>Start the download again.</source>
        <translation>Starten Sie den Download erneut.</translation>
    </message>
    <message>
        <source>Wrong data was downloaded</source>
        <translation>Es wurden falsche Daten heruntergeladen</translation>
    </message>
    <message>
        <source>The download could not be completed</source>
        <translation>Der Download konnte nicht abgeschlossen werden</translation>
    </message>
    <message>
        <source>There is not enough space</source>
        <translation>Es ist nicht genug Platz</translation>
    </message>
    <message>
        <source>Free some space and resume; the part already downloaded is kept.</source>
        <translation>Schaffen Sie Platz, und setzen Sie fort; der schon geladene Teil bleibt erhalten.</translation>
    </message>
    <message>
        <source>The file arrived damaged</source>
        <translation>Die Datei kam beschädigt an</translation>
    </message>
    <message>
        <source>Try again; if it happens again, a proxy or a mirror may be changing the file.</source>
        <translation>Versuchen Sie es erneut; geschieht es wieder, verändert vielleicht ein Proxy oder Mirror die Datei.</translation>
    </message>
    <message>
        <source>The package could not be downloaded</source>
        <translation>Das Paket konnte nicht heruntergeladen werden</translation>
    </message>
    <message>
        <source>Check the network and how pip is configured.</source>
        <translation>Prüfen Sie das Netzwerk und die Einstellungen von pip.</translation>
    </message>
    <message>
        <source>This file is already being downloaded</source>
        <translation>Diese Datei wird bereits heruntergeladen</translation>
    </message>
    <message>
        <source>Wait for the other Paceline, or stop its download.</source>
        <translation>Warten Sie auf das andere Paceline, oder stoppen Sie dessen Download.</translation>
    </message>
    <message>
        <source>The library could not do this</source>
        <translation>Die Bibliothek konnte das nicht tun</translation>
    </message>
    <message>
        <source>Check the name and the folder&apos;s permissions.</source>
        <translation>Prüfen Sie den Namen und die Rechte des Ordners.</translation>
    </message>
    <message>
        <source>This name is not allowed</source>
        <translation>Dieser Name ist nicht erlaubt</translation>
    </message>
    <message>
        <source>Nothing was written. Report the repository to the hub: such names are only used for attacks.</source>
        <translation>Es wurde nichts geschrieben. Melden Sie das Repository dem Hub: Solche Namen dienen nur Angriffen.</translation>
    </message>
    <message>
        <source>The token cannot be stored</source>
        <translation>Das Token kann nicht gespeichert werden</translation>
    </message>
    <message>
        <source>Check the spelling.</source>
        <translation>Prüfen Sie die Schreibweise.</translation>
    </message>
    <message>
        <source>leads to another folder</source>
        <translation>führt in einen anderen Ordner</translation>
    </message>
    <message>
        <source>is too long</source>
        <translation>ist zu lang</translation>
    </message>
    <message>
        <source>contains characters that do not belong in a name</source>
        <translation>enthält Zeichen, die nicht in einen Namen gehören</translation>
    </message>
    <message>
        <source>begins or ends with a character that some systems drop or interpret differently</source>
        <translation>beginnt oder endet mit einem Zeichen, das manche Systeme weglassen oder anders verstehen</translation>
    </message>
    <message>
        <source>is the name of a device on Windows</source>
        <translation>ist der eines Geräts unter Windows</translation>
    </message>
    <message>
        <source>{repo_id} is not a repository of the form owner/name.</source>
        <translation>{repo_id} ist kein Repository der Form owner/name.</translation>
    </message>
    <message>
        <source>The file name {path} is not a plain relative path.</source>
        <translation>Der Dateiname {path} ist kein einfacher relativer Pfad.</translation>
    </message>
    <message>
        <source>{path} would lie outside the library folder, through a link.</source>
        <translation>{path} läge durch eine Verknüpfung außerhalb des Bibliotheksordners.</translation>
    </message>
    <message>
        <source>The file name {path} {reason}.</source>
        <translation>Der Dateiname {path} {reason}.</translation>
    </message>
    <message>
        <source>Name one.</source>
        <translation>Nennen Sie eines.</translation>
    </message>
    <message>
        <source>See `paceline models list`.</source>
        <translation>Siehe `paceline models list`.</translation>
    </message>
    <message>
        <source>Paceline runs models in the GGUF format only.</source>
        <translation>Paceline verwendet nur Modelle im GGUF-Format.</translation>
    </message>
    <message>
        <source>Choose a smaller model.</source>
        <translation>Wählen Sie ein kleineres Modell.</translation>
    </message>
    <message>
        <source>The library has no model {name}.</source>
        <translation>Die Bibliothek hat kein Modell {name}.</translation>
    </message>
    <message>
        <source>{file} is not a GGUF file.</source>
        <translation>{file} ist keine GGUF-Datei.</translation>
    </message>
    <message>
        <source>{target} cannot draft for itself.</source>
        <translation>{target} kann nicht für sich selbst entwerfen.</translation>
    </message>
    <message>
        <source>{place} is not a model, so it is not deleted.</source>
        <translation>{place} ist kein Modell und wird daher nicht gelöscht.</translation>
    </message>
    <message>
        <source>{file} does not exist.</source>
        <translation>{file} gibt es nicht.</translation>
    </message>
    <message>
        <source>{place} could not be deleted: {reason}.</source>
        <translation>{place} konnte nicht gelöscht werden: {reason}.</translation>
    </message>
    <message>
        <source>Another Paceline is using the library&apos;s index.</source>
        <translation>Ein anderes Paceline benutzt den Index der Bibliothek.</translation>
    </message>
    <message>
        <source>Try again in a moment.</source>
        <translation>Versuchen Sie es gleich noch einmal.</translation>
    </message>
    <message>
        <source>{path} could not be written: {reason}.</source>
        <translation>{path} konnte nicht geschrieben werden: {reason}.</translation>
    </message>
    <message>
        <source>Check the folder&apos;s permissions.</source>
        <translation>Prüfen Sie die Rechte des Ordners.</translation>
    </message>
    <message>
        <source>Choose a library folder on another disk.</source>
        <translation>Wählen Sie einen Bibliotheksordner auf einem anderen Laufwerk.</translation>
    </message>
    <message>
        <source>{number:.0f} MB</source>
        <translation>{number:.0f} MB</translation>
    </message>
    <message>
        <source>{number:.1f} GB</source>
        <translation>{number:.1f} GB</translation>
    </message>
    <message>
        <source>{needed_bytes} are still needed, but {free} are free in {folder}, of which {reserve_bytes} are reserved for the system.</source>
        <translation>Noch {needed_bytes} werden gebraucht, aber in {folder} sind {free} frei, von denen {reserve_bytes} dem System bleiben.</translation>
    </message>
    <message>
        <source>The disk of {folder} cannot hold a file this big.</source>
        <translation>Das Laufwerk von {folder} kann keine so große Datei aufnehmen.</translation>
    </message>
    <message>
        <source>{path} is not open.</source>
        <translation>{path} ist nicht geöffnet.</translation>
    </message>
    <message>
        <source>The disk of {folder} is full.</source>
        <translation>Das Laufwerk von {folder} ist voll.</translation>
    </message>
    <message>
        <source>{what} does not exist.</source>
        <translation>{what} gibt es nicht.</translation>
    </message>
    <message>
        <source>{what} does not exist, or is private.</source>
        <translation>{what} gibt es nicht, oder es ist privat.</translation>
    </message>
    <message>
        <source>The hub does not say how big {what} is.</source>
        <translation>Der Hub sagt nicht, wie groß {what} ist.</translation>
    </message>
    <message>
        <source>The hub does not give a checksum for {what}.</source>
        <translation>Der Hub nennt keine Prüfsumme für {what}.</translation>
    </message>
    <message>
        <source>The link to {what} has expired.</source>
        <translation>Der Link zu {what} ist abgelaufen.</translation>
    </message>
    <message>
        <source>The hub answered {what} with HTTP {status}.</source>
        <translation>Der Hub antwortete auf {what} mit HTTP {status}.</translation>
    </message>
    <message>
        <source>{path} cannot be read: {reason}.</source>
        <translation>{path} kann nicht gelesen werden: {reason}.</translation>
    </message>
    <message>
        <source>This system has no keyring that Paceline could use.</source>
        <translation>Dieses System hat keinen Schlüsselbund, den Paceline verwenden könnte.</translation>
    </message>
    <message>
        <source>This is not an access token: it is empty, or contains invalid characters.</source>
        <translation>Das ist kein Zugangstoken: Es ist leer oder enthält ungültige Zeichen.</translation>
    </message>
    <message>
        <source>The system&apos;s keyring could not be opened ({kind}).</source>
        <translation>Der Schlüsselbund des Systems konnte nicht geöffnet werden ({kind}).</translation>
    </message>
    <message>
        <source>The system&apos;s keyring refused ({kind}).</source>
        <translation>Der Schlüsselbund des Systems hat abgelehnt ({kind}).</translation>
    </message>
    <message>
        <source>Check its permissions.</source>
        <translation>Prüfen Sie die Rechte.</translation>
    </message>
    <message>
        <source>The hub gives no checksum for {path}, so it is not downloaded.</source>
        <translation>Der Hub nennt keine Prüfsumme für {path}, daher wird die Datei nicht heruntergeladen.</translation>
    </message>
    <message>
        <source>Another Paceline is downloading {path}.</source>
        <translation>Ein anderes Paceline lädt {path} gerade herunter.</translation>
    </message>
    <message>
        <source>{folder} cannot be written: {reason}.</source>
        <translation>{folder} kann nicht beschrieben werden: {reason}.</translation>
    </message>
    <message>
        <source>The folder could not be opened</source>
        <translation>Der Ordner konnte nicht geöffnet werden</translation>
    </message>
    <message>
        <source>Model not found</source>
        <translation>Modell nicht gefunden</translation>
    </message>
    <message>
        <source>“{name}” uses a kind of encryption that is not supported.</source>
        <translation>„{name}“ verwendet eine Verschlüsselung, die nicht unterstützt wird.</translation>
    </message>
    <message>
        <source>This file does not name a valid version of Paceline.</source>
        <translation>Diese Datei nennt keine gültige Version von Paceline.</translation>
    </message>
    <message>
        <source>Export it again.</source>
        <translation>Exportieren Sie sie noch einmal.</translation>
    </message>
    <message>
        <source>Free some space, and start Paceline again.</source>
        <translation>Schaffen Sie Platz, und starten Sie Paceline noch einmal.</translation>
    </message>
    <message>
        <source>Check the disk and the folder&apos;s permissions, and start Paceline again.</source>
        <translation>Prüfen Sie das Laufwerk und die Rechte des Ordners, und starten Sie Paceline noch einmal.</translation>
    </message>
    <message>
        <source>Resume it; if it happens again, choose another repository.</source>
        <translation>Setzen Sie ihn fort; geschieht es wieder, wählen Sie ein anderes Repository.</translation>
    </message>
    <message>
        <source>It stopped unexpectedly ({kind}).</source>
        <translation>Er ist unerwartet abgebrochen ({kind}).</translation>
    </message>
    <message>
        <source>pip, which downloads the package, is missing here.</source>
        <translation>pip, das das Paket herunterlädt, fehlt hier.</translation>
    </message>
    <message>
        <source>Free some space and try again.</source>
        <translation>Schaffen Sie Platz, und versuchen Sie es erneut.</translation>
    </message>
    <message>
        <source>The file on the hub is not the one that was checked for Paceline.</source>
        <translation>Die Datei im Hub ist nicht die, die für Paceline geprüft wurde.</translation>
    </message>
    <message>
        <source>{name} is not the package that was checked for Paceline, and was discarded.</source>
        <translation>{name} ist nicht das Paket, das für Paceline geprüft wurde; es wurde verworfen.</translation>
    </message>
    <message>
        <source>Name the model&apos;s own file.</source>
        <translation>Nennen Sie die Datei des Modells selbst.</translation>
    </message>
    <message>
        <source>The disk was full before the package was downloaded.</source>
        <translation>Die Festplatte war voll, bevor das Paket da war.</translation>
    </message>
    <message>
        <source>pip failed: {words}.</source>
        <translation>pip ist gescheitert: {words}.</translation>
    </message>
    <message>
        <source>pip downloaded a different file than {name}.</source>
        <translation>pip hat eine andere Datei als {name} heruntergeladen.</translation>
    </message>
    <message>
        <source>This could not be done</source>
        <translation>Das war nicht möglich</translation>
    </message>
    <message>
        <source>Something went wrong inside Paceline; it was written to the log.</source>
        <translation>In Paceline ist etwas schiefgegangen; es steht im Protokoll.</translation>
    </message>
    <message>
        <source>Try again.</source>
        <translation>Versuchen Sie es erneut.</translation>
    </message>
    <message>
        <source>The recommendations cannot be shown</source>
        <translation>Die Empfehlungen können nicht gezeigt werden</translation>
    </message>
    <message>
        <source>Reinstall Paceline; searching the hub works without them.</source>
        <translation>Installieren Sie Paceline neu; die Suche im Hub funktioniert auch ohne sie.</translation>
    </message>
    <message>
        <source>{repo} does not contain {file}.</source>
        <translation>{repo} enthält {file} nicht.</translation>
    </message>
    <message>
        <source>The built-in models are missing</source>
        <translation>Die eingebauten Modelle fehlen</translation>
    </message>
    <message>
        <source>This copy of Paceline came without its small built-in models.</source>
        <translation>In dieser Ausgabe von Paceline fehlen die kleinen eingebauten Modelle.</translation>
    </message>
    <message>
        <source>Open a GGUF file of your own as the target.</source>
        <translation>Öffnen Sie eine eigene GGUF-Datei als Zielmodell.</translation>
    </message>
    <message>
        <source>The draft is not in use</source>
        <translation>Das Entwurfsmodell wird nicht verwendet</translation>
    </message>
    <message>
        <source>No target is loaded</source>
        <translation>Es ist kein Zielmodell geladen</translation>
    </message>
    <message>
        <source>A draft needs a target.</source>
        <translation>Ein Entwurfsmodell braucht ein Zielmodell.</translation>
    </message>
    <message>
        <source>Open a target first.</source>
        <translation>Öffnen Sie zuerst ein Zielmodell.</translation>
    </message>
    <message>
        <source>model settings</source>
        <translation>Modelleinstellungen</translation>
    </message>
    <message>
        <source>the default settings for every model</source>
        <translation>den Standardeinstellungen für jedes Modell</translation>
    </message>
    <message>
        <source>Cannot write to a folder</source>
        <translation>In einen Ordner kann nicht geschrieben werden</translation>
    </message>
    <message>
        <source>Allow writing to it, or set {variable} to a folder of your own; until then nothing is saved there.</source>
        <translation>Erlauben Sie das Schreiben, oder setzen Sie {variable} auf einen eigenen Ordner; bis dahin wird dort nichts gespeichert.</translation>
    </message>
    <message>
        <source>Delete one first.</source>
        <translation>Löschen Sie zuerst eine.</translation>
    </message>
    <message>
        <source>Choose another name.</source>
        <translation>Wählen Sie einen anderen Namen.</translation>
    </message>
    <message>
        <source>presets</source>
        <translation>Voreinstellungen</translation>
    </message>
    <message>
        <source>the built-in presets</source>
        <translation>den mitgelieferten Voreinstellungen</translation>
    </message>
    <message>
        <source>There are already {limit} presets.</source>
        <translation>Es gibt schon {limit} Voreinstellungen.</translation>
    </message>
    <message>
        <source>There is already a preset named {name}.</source>
        <translation>Es gibt schon eine Voreinstellung {name}.</translation>
    </message>
    <message>
        <source>You have no preset named {name}.</source>
        <translation>Sie haben keine Voreinstellung {name}.</translation>
    </message>
    <message>
        <source>A name has 1 to {limit} characters.</source>
        <translation>Ein Name hat 1 bis {limit} Zeichen.</translation>
    </message>
    <message>
        <source>{name} comes with Paceline and cannot be changed.</source>
        <translation>{name} gehört zu Paceline und lässt sich nicht ändern.</translation>
    </message>
    <message>
        <source>prompts</source>
        <translation>Vorlagen</translation>
    </message>
    <message>
        <source>the built-in prompts</source>
        <translation>den mitgelieferten Vorlagen</translation>
    </message>
    <message>
        <source>settings</source>
        <translation>Einstellungen</translation>
    </message>
    <message>
        <source>the default settings</source>
        <translation>den Standardeinstellungen</translation>
    </message>
    <message>
        <source>The settings are from a newer Paceline; those unknown to this one are kept.</source>
        <translation>Die Einstellungen stammen von einem neueren Paceline; was diese Version nicht kennt, bleibt erhalten.</translation>
    </message>
    <message>
        <source>There is no setting {key}.</source>
        <translation>Es gibt keine Einstellung {key}.</translation>
    </message>
    <message>
        <source>The value in the settings file is not valid; the default is used.</source>
        <translation>Der Wert in der Einstellungsdatei ist ungültig; es gilt der Standardwert.</translation>
    </message>
    <message>
        <source>This setting was not accepted</source>
        <translation>Diese Einstellung wurde nicht übernommen</translation>
    </message>
    <message>
        <source>Enter a value in its range.</source>
        <translation>Geben Sie einen Wert im erlaubten Bereich ein.</translation>
    </message>
    <message>
        <source>The shares of the devices must be numbers such as 3,1, one for each.</source>
        <translation>Die Anteile der Geräte müssen durch Kommas getrennte Zahlen sein, eine für jedes Gerät; „3,1“ heißt 3 zu 1.</translation>
    </message>
    <message>
        <source>{label} must be text.</source>
        <translation>{label} muss Text sein.</translation>
    </message>
    <message>
        <source>{label} must be one of: {choices}.</source>
        <translation>{label} muss eines hiervon sein: {choices}.</translation>
    </message>
    <message>
        <source>{label} may have at most {limit:,.0f} characters.</source>
        <translation>{label} darf höchstens {limit:,.0f} Zeichen haben.</translation>
    </message>
    <message>
        <source>{label} contains an incomplete character.</source>
        <translation>{label} enthält ein unvollständiges Zeichen.</translation>
    </message>
    <message>
        <source>{label} must be a number.</source>
        <translation>{label} muss eine Zahl sein.</translation>
    </message>
    <message>
        <source>{label} must be from {low} to {high}.</source>
        <translation>{label} muss von {low} bis {high} sein.</translation>
    </message>
    <message>
        <source>{label} must be true or false.</source>
        <translation>{label} muss wahr oder falsch sein.</translation>
    </message>
    <message>
        <source>{label} must be a whole number.</source>
        <translation>{label} muss eine ganze Zahl sein.</translation>
    </message>
    <message>
        <source>The {what} file is damaged</source>
        <translation>Die Datei der {what} ist beschädigt</translation>
    </message>
    <message>
        <source>{path} could not be read: {reason}. {kept}</source>
        <translation>{path} konnte nicht gelesen werden: {reason}. {kept}</translation>
    </message>
    <message>
        <source>Paceline continues with {without}; set yours again, or repair the kept file.</source>
        <translation>Paceline macht mit {without} weiter; geben Sie Ihre neu ein, oder reparieren Sie die aufbewahrte Datei.</translation>
    </message>
    <message>
        <source>it is not a regular file</source>
        <translation>sie ist keine gewöhnliche Datei</translation>
    </message>
    <message>
        <source>Paceline continues with {without}; check the file&apos;s permissions.</source>
        <translation>Paceline macht mit {without} weiter; prüfen Sie die Rechte der Datei.</translation>
    </message>
    <message>
        <source>It could not be renamed ({reason}) and is overwritten at the next change.</source>
        <translation>Sie konnte nicht umbenannt werden ({reason}) und wird bei der nächsten Änderung überschrieben.</translation>
    </message>
    <message>
        <source>it has more than {limit} MB</source>
        <translation>sie hat mehr als {limit} MB</translation>
    </message>
    <message>
        <source>The {what} could not be read</source>
        <translation>Die {what} konnten nicht gelesen werden</translation>
    </message>
    <message>
        <source>a draft head (DFlash) of another model</source>
        <translation>ein Entwurfskopf (DFlash) eines anderen Modells</translation>
    </message>
    <message>
        <source>a draft head of a Gemma 4 model</source>
        <translation>ein Entwurfskopf eines Gemma-4-Modells</translation>
    </message>
    <message>
        <source>{name} does not say how its tokenizer splits text, as is usual in files from before May 2024. Its answers may be worse; a newer file of this model is better.</source>
        <translation>{name} sagt nicht, wie der Tokenizer Text aufteilt; das ist bei Dateien aus der Zeit vor Mai 2024 üblich. Die Antworten können schlechter sein; eine neuere Datei dieses Modells ist besser.</translation>
    </message>
    <message>
        <source>The target&apos;s last two layers are not those that the head reads.</source>
        <translation>Die letzten beiden Schichten des Modells sind nicht die, die der Kopf liest.</translation>
    </message>
    <message>
        <source>llama.cpp lacks the kernels that the set-up builds for this processor ({names}), so drafting gains less. “make run” builds them in; engine/kernels/README.md says more.</source>
        <translation>llama.cpp fehlen die Kernel, die die Einrichtung für diesen Prozessor baut ({names}); Entwürfe bringen so weniger. „make run“ baut sie ein; mehr steht in engine/kernels/README.md.</translation>
    </message>
    <message>
        <source>With attention heads of this model&apos;s size, rounding depends on how many tokens a pass has, so words may change with the mode.</source>
        <translation>Wegen der Größe seiner Attention-Köpfe hängt das Runden bei diesem Modell davon ab, wie viele Token ein Durchlauf hat. Wörter können sich daher mit dem Modus ändern.</translation>
    </message>
    <message>
        <source>llama.cpp lacks the kernels that Paceline&apos;s set-up builds, so rounding depends on how many tokens a pass has, and words may change with the mode.</source>
        <translation>Diesem llama.cpp fehlen die Kernel, die die Einrichtung von Paceline baut. Das Runden hängt daher davon ab, wie viele Token ein Durchlauf hat, und Wörter können sich mit dem Modus ändern.</translation>
    </message>
    <message>
        <source>draft on: {share}</source>
        <translation>Entwurf an: {share}</translation>
    </message>
    <message>
        <source>Too many pictures have been read since the start.</source>
        <translation>Seit dem Start wurden zu viele Bilder gelesen.</translation>
    </message>
    <message>
        <source>Input {number} is too large: it has {num_tokens:,} tokens, and this model reads {most:,} at once.</source>
        <translation>Eingabe {number} ist zu groß: Sie hat {num_tokens:,} Token, und dieses Modell liest höchstens {most:,} auf einmal.</translation>
    </message>
    <message>
        <source>killed by another program, or by the system because memory ran out</source>
        <translation>von einem anderen Programm beendet, oder vom System, weil der Speicher nicht reichte</translation>
    </message>
    <message>
        <source>its chat template does not support tools</source>
        <translation>seine Chat-Vorlage unterstützt keine Werkzeuge</translation>
    </message>
    <message>
        <source>The model&apos;s chat template does not accept this conversation{reason}.</source>
        <translation>Die Chat-Vorlage des Modells nimmt diese Unterhaltung nicht an{reason}.</translation>
    </message>
    <message>
        <source>The model&apos;s chat template failed: {reason}.</source>
        <translation>Die Chat-Vorlage des Modells ist gescheitert: {reason}.</translation>
    </message>
    <message>
        <source>it calls itself without end</source>
        <translation>es ruft sich ohne Ende selbst auf</translation>
    </message>
    <message>
        <source>it wrote more text than any context holds</source>
        <translation>es hat mehr Text geschrieben, als ein Kontext fasst</translation>
    </message>
    <message>
        <source>The prompt is empty.</source>
        <translation>Die Eingabe ist leer.</translation>
    </message>
    <message>
        <source>Type a message.</source>
        <translation>Schreiben Sie eine Nachricht.</translation>
    </message>
    <message>
        <source>The conversation has {num_ids:,} tokens, but the context holds {size:,} and the answer needs room.</source>
        <translation>Die Unterhaltung hat {num_ids:,} Token, der Kontext fasst aber nur {size:,}, und die Antwort braucht Platz.</translation>
    </message>
    <message>
        <source>The engine could not continue</source>
        <translation>Die Engine konnte nicht weitermachen</translation>
    </message>
    <message>
        <source>Ask something shorter, or choose a larger context in the settings.</source>
        <translation>Fragen Sie kürzer, oder wählen Sie in den Einstellungen einen größeren Kontext.</translation>
    </message>
    <message>
        <source>Race two lanes, ask for a shorter answer, or close other programs.</source>
        <translation>Lassen Sie nur zwei Bahnen laufen, erlauben Sie nur eine kürzere Antwort, oder schließen Sie andere Programme.</translation>
    </message>
    <message>
        <source>Choose another mode for this lane.</source>
        <translation>Wählen Sie einen anderen Modus für diese Bahn.</translation>
    </message>
    <message>
        <source>Something unexpected went wrong; the log has the details.</source>
        <translation>Ein unerwarteter Fehler ist aufgetreten; Näheres steht im Protokoll.</translation>
    </message>
    <message>
        <source>Turn it on again.</source>
        <translation>Schalten Sie ihn wieder ein.</translation>
    </message>
    <message>
        <source>Choose another port in the settings, under Local server.</source>
        <translation>Wählen Sie in den Einstellungen unter „Lokaler Server“ einen anderen Port.</translation>
    </message>
    <message>
        <source>Another program uses port {port}.</source>
        <translation>Port {port} wird von einem anderen Programm benutzt.</translation>
    </message>
    <message>
        <source>“none” stands for the processor alone: name it without other devices.</source>
        <translation>„none“ steht für den Prozessor allein: Geben Sie es ohne andere Geräte an.</translation>
    </message>
    <message>
        <source>The race could not be exported</source>
        <translation>Das Rennen konnte nicht exportiert werden</translation>
    </message>
    <message>
        <source>of the target</source>
        <translation>des Zielmodells</translation>
    </message>
    <message>
        <source>of the draft</source>
        <translation>des Entwurfsmodells</translation>
    </message>
    <message>
        <source>from memory</source>
        <translation>aus dem Speicher</translation>
    </message>
    <message>
        <source>from disk</source>
        <translation>von der Festplatte</translation>
    </message>
    <message>
        <source>{number:,.2f} s</source>
        <translation>{number:,.2f} s</translation>
    </message>
    <message>
        <source>1 token</source>
        <translation>1 Token</translation>
    </message>
    <message>
        <source>{number:,} tokens</source>
        <translation>{number:,} Token</translation>
    </message>
    <message>
        <source>{number:,.1f} ms</source>
        <translation>{number:,.1f} ms</translation>
    </message>
    <message>
        <source>saved {tokens} {of_model} for the previous chat in {took}</source>
        <translation>{tokens} {of_model} für den Chat davor in {took} gespeichert</translation>
    </message>
    <message>
        <source>restored {tokens} {of_model} {source} in {took}</source>
        <translation>{tokens} {of_model} {source} in {took} zurückgeholt</translation>
    </message>
    <message>
        <source>a saved cache could not be restored; its tokens are decoded again</source>
        <translation>ein gespeicherter Cache konnte nicht wiederhergestellt werden; seine Token werden neu berechnet</translation>
    </message>
    <message>
        <source>token {place}: {reason}</source>
        <translation>Token {place}: {reason}</translation>
    </message>
    <message>
        <source>Loading was cancelled</source>
        <translation>Das Laden wurde abgebrochen</translation>
    </message>
    <message>
        <source>Another model was chosen.</source>
        <translation>Es wurde ein anderes Modell gewählt.</translation>
    </message>
    <message>
        <source>No draft can be chosen for this model</source>
        <translation>Für dieses Modell lässt sich kein Entwurfsmodell wählen</translation>
    </message>
    <message>
        <source>It runs in another program, which decides how it drafts.</source>
        <translation>Es läuft in einem anderen Programm, das entscheidet, wie es entwirft.</translation>
    </message>
    <message>
        <source>Choose a model on this computer to use a draft of your own.</source>
        <translation>Wählen Sie ein Modell auf diesem Rechner, um ein eigenes Entwurfsmodell zu verwenden.</translation>
    </message>
    <message>
        <source>A race needs a model on this computer</source>
        <translation>Ein Rennen braucht ein Modell auf diesem Rechner</translation>
    </message>
    <message>
        <source>The model in use runs in another program, which decides how it drafts.</source>
        <translation>Das verwendete Modell läuft in einem anderen Programm, das entscheidet, wie es entwirft.</translation>
    </message>
    <message>
        <source>Choose a model on this computer.</source>
        <translation>Wählen Sie ein Modell auf diesem Rechner.</translation>
    </message>
    <message>
        <source>llama.cpp uses at most {most} devices.</source>
        <translation>llama.cpp nutzt höchstens {most} Geräte.</translation>
    </message>
    <message>
        <source>There are more than {most} variables.</source>
        <translation>Es sind mehr als {most} Variablen.</translation>
    </message>
    <message>
        <source>{part} is not of the form name=value.</source>
        <translation>{part} hat nicht die Form name=wert.</translation>
    </message>
    <message>
        <source>{name} is set by Paceline itself.</source>
        <translation>{name} setzt Paceline selbst.</translation>
    </message>
    <message>
        <source>The value of {name} has more than {most:,} characters.</source>
        <translation>Der Wert von {name} hat mehr als {most:,} Zeichen.</translation>
    </message>
    <message>
        <source>Leave it out.</source>
        <translation>Lassen Sie sie weg.</translation>
    </message>
    <message>
        <source>Messages and the key would go to {host} unencrypted.</source>
        <translation>Nachrichten und Schlüssel gingen unverschlüsselt an {host}.</translation>
    </message>
    <message>
        <source>A line of the answer of {host} is far too long.</source>
        <translation>Eine Zeile der Antwort von {host} ist viel zu lang.</translation>
    </message>
    <message>
        <source>The answer of {host} is far too long.</source>
        <translation>Die Antwort von {host} ist viel zu lang.</translation>
    </message>
    <message>
        <source>Add it again, or choose a model.</source>
        <translation>Fügen Sie ihn wieder hinzu, oder wählen Sie ein Modell.</translation>
    </message>
    <message>
        <source>Remove one first.</source>
        <translation>Entfernen Sie erst einen.</translation>
    </message>
    <message>
        <source>{path} cannot be written.</source>
        <translation>{path} kann nicht geschrieben werden.</translation>
    </message>
    <message>
        <source>This address cannot be used</source>
        <translation>Diese Adresse ist nicht verwendbar</translation>
    </message>
    <message>
        <source>Give an address such as https://gpu.example.org:8000.</source>
        <translation>Geben Sie eine Adresse wie https://gpu.example.org:8000 an.</translation>
    </message>
    <message>
        <source>This address is not encrypted</source>
        <translation>Diese Adresse ist nicht verschlüsselt</translation>
    </message>
    <message>
        <source>Use https, or an SSH tunnel, or confirm that you trust the network in between.</source>
        <translation>Verwenden Sie https oder einen SSH-Tunnel, oder bestätigen Sie, dass Sie dem Netz dazwischen vertrauen.</translation>
    </message>
    <message>
        <source>It may be loading a model or have too much to do. Try again later.</source>
        <translation>Vielleicht lädt er ein Modell oder ist überlastet. Versuchen Sie es später.</translation>
    </message>
    <message>
        <source>Try again in a minute.</source>
        <translation>Versuchen Sie es in einer Minute noch einmal.</translation>
    </message>
    <message>
        <source>The answer was cut off</source>
        <translation>Die Antwort wurde abgeschnitten</translation>
    </message>
    <message>
        <source>Check that the address is that of an OpenAI-compatible server.</source>
        <translation>Prüfen Sie, ob die Adresse die eines OpenAI-kompatiblen Servers ist.</translation>
    </message>
    <message>
        <source>Check the free space and the folder&apos;s permissions.</source>
        <translation>Prüfen Sie den freien Platz und die Rechte des Ordners.</translation>
    </message>
    <message>
        <source>{host} has no list of models.</source>
        <translation>{host} hat keine Liste von Modellen.</translation>
    </message>
    <message>
        <source>Enter its key.</source>
        <translation>Geben Sie den Schlüssel ein.</translation>
    </message>
    <message>
        <source>{host} answered with status {status}.</source>
        <translation>{host} antwortete mit Status {status}.</translation>
    </message>
    <message>
        <source>{host} does not accept the key.</source>
        <translation>{host} nimmt den Schlüssel nicht an.</translation>
    </message>
    <message>
        <source>{host} does not offer the model.</source>
        <translation>{host} bietet das Modell nicht an.</translation>
    </message>
    <message>
        <source>You are not signed in to “{name}”: {why}.</source>
        <translation>Sie sind bei „{name}“ nicht angemeldet: {why}.</translation>
    </message>
    <message>
        <source>Could not start “{name}”: there is no folder {folder}.</source>
        <translation>„{name}“ konnte nicht gestartet werden: Es gibt keinen Ordner {folder}.</translation>
    </message>
    <message>
        <source>Could not start “{name}”: the command “{command}” was not found.</source>
        <translation>„{name}“ konnte nicht gestartet werden: Der Befehl „{command}“ wurde nicht gefunden.</translation>
    </message>
    <message>
        <source>Could not start “{name}”: {reason}.</source>
        <translation>„{name}“ konnte nicht gestartet werden: {reason}.</translation>
    </message>
    <message>
        <source>The tool “{name}” is left out: {why}.</source>
        <translation>Das Werkzeug „{name}“ wird weggelassen: {why}.</translation>
    </message>
    <message>
        <source>So are {number} more.</source>
        <translation>Ebenso {number} weitere.</translation>
    </message>
    <message>
        <source>it has no name</source>
        <translation>es hat keinen Namen</translation>
    </message>
    <message>
        <source>there are more than {most}</source>
        <translation>es sind mehr als {most}</translation>
    </message>
    <message>
        <source>the arguments of the others leave no room</source>
        <translation>die Argumente der anderen lassen keinen Platz</translation>
    </message>
    <message>
        <source>Could not start “{name}”: {why}.</source>
        <translation>„{name}“ konnte nicht gestartet werden: {why}.</translation>
    </message>
    <message>
        <source>{variable} is not set in the environment.</source>
        <translation>{variable} ist in der Umgebung nicht gesetzt.</translation>
    </message>
    <message>
        <source>the server refused to sign you in</source>
        <translation>der Server hat die Anmeldung abgelehnt</translation>
    </message>
    <message>
        <source>Set the mode to Off for this model.</source>
        <translation>Stellen Sie für dieses Modell den Modus auf „Aus“.</translation>
    </message>
    <message>
        <source>The target&apos;s chat template uses the control token {token}, which the draft does not have, and the draft&apos;s own template cannot be compared. {reason}</source>
        <translation>Die Chat-Vorlage des Zielmodells verwendet das Steuertoken {token}, das dem Entwurfsmodell fehlt, und dessen eigene Vorlage lässt sich nicht vergleichen. {reason}</translation>
    </message>
    <message>
        <source>the draft needs more than the {n_ctx:,} tokens of its context for this conversation</source>
        <translation>das Entwurfsmodell braucht für diesen Chat mehr als die {n_ctx:,} Token seines Kontexts</translation>
    </message>
    <message>
        <source>llama.cpp cannot be loaded</source>
        <translation>llama.cpp lässt sich nicht laden</translation>
    </message>
    <message>
        <source>Type “paceline doctor” in a terminal: it says what is missing and how to get it.</source>
        <translation>Geben Sie in einem Terminal „paceline doctor“ ein: Es sagt, was fehlt und woher Sie es bekommen.</translation>
    </message>
    <message>
        <source>This file cannot be used as a model</source>
        <translation>Diese Datei ist nicht als Modell verwendbar</translation>
    </message>
    <message>
        <source>Download it again, or choose another GGUF file.</source>
        <translation>Laden Sie sie erneut herunter, oder wählen Sie eine andere GGUF-Datei.</translation>
    </message>
    <message>
        <source>Model file not found</source>
        <translation>Modelldatei nicht gefunden</translation>
    </message>
    <message>
        <source>Check the path, or choose another GGUF file.</source>
        <translation>Prüfen Sie den Pfad, oder wählen Sie eine andere GGUF-Datei.</translation>
    </message>
    <message>
        <source>The model could not be loaded</source>
        <translation>Das Modell konnte nicht geladen werden</translation>
    </message>
    <message>
        <source>{path} cannot be written: {reason}.</source>
        <translation>{path} kann nicht geschrieben werden: {reason}.</translation>
    </message>
    <message>
        <source>The devices of this computer could not be listed.</source>
        <translation>Die Geräte dieses Rechners konnten nicht aufgelistet werden.</translation>
    </message>
    <message>
        <source>The engine ended unexpectedly</source>
        <translation>Die Engine wurde unerwartet beendet</translation>
    </message>
    <message>
        <source>Choose another file, or fewer layers on the GPU.</source>
        <translation>Wählen Sie eine andere Datei oder weniger Schichten auf der GPU.</translation>
    </message>
    <message>
        <source>Its process ended ({reason}).</source>
        <translation>Der Prozess der Engine endete ({reason}).</translation>
    </message>
    <message>
        <source>The engine ended unexpectedly ({reason}) while it loaded {name}.</source>
        <translation>Die Engine wurde unerwartet beendet ({reason}), während sie {name} lud.</translation>
    </message>
    <message>
        <source>There are more than {most} tools.</source>
        <translation>Es sind mehr als {most} Werkzeuge.</translation>
    </message>
    <message>
        <source>{part} is not of the form server/tool.</source>
        <translation>{part} hat nicht die Form Server/Werkzeug.</translation>
    </message>
    <message>
        <source>The connections were closed.</source>
        <translation>Die Verbindungen wurden geschlossen.</translation>
    </message>
    <message>
        <source>Leave the pictures out.</source>
        <translation>Lassen Sie die Bilder weg.</translation>
    </message>
    <message>
        <source>A tool&apos;s result in this file does not say which call it answers.</source>
        <translation>Ein Werkzeugergebnis in dieser Datei sagt nicht, zu welchem Aufruf es gehört.</translation>
    </message>
    <message>
        <source>The tool server is not available</source>
        <translation>Der Werkzeugserver ist nicht verfügbar</translation>
    </message>
    <message>
        <source>Restart it, or look at its log.</source>
        <translation>Starten Sie ihn neu, oder sehen Sie in seinem Protokoll nach.</translation>
    </message>
    <message>
        <source>The tool servers could not be read</source>
        <translation>Die Werkzeugserver konnten nicht gelesen werden</translation>
    </message>
    <message>
        <source>Correct the file, or choose another one.</source>
        <translation>Berichtigen Sie die Datei, oder wählen Sie eine andere.</translation>
    </message>
    <message>
        <source>The entry needs either a “command” or a “url”.</source>
        <translation>Der Eintrag braucht entweder „command“ oder „url“.</translation>
    </message>
    <message>
        <source>“args” must be a list, and “env” an object.</source>
        <translation>„args“ muss eine Liste sein und „env“ ein Objekt.</translation>
    </message>
    <message>
        <source>The address must begin with http:// or https://.</source>
        <translation>Die Adresse muss mit http:// oder https:// beginnen.</translation>
    </message>
    <message>
        <source>The transport {name} is not supported: use the server&apos;s address for streamable HTTP.</source>
        <translation>Der Transport {name} wird nicht unterstützt: Verwenden Sie die Adresse des Servers für Streamable HTTP.</translation>
    </message>
    <message>
        <source>{path} has more than {most:,} bytes.</source>
        <translation>{path} hat mehr als {most:,} Bytes.</translation>
    </message>
    <message>
        <source>It has no object “mcpServers”.</source>
        <translation>Sie hat kein Objekt „mcpServers“.</translation>
    </message>
    <message>
        <source>It names more than {most} servers.</source>
        <translation>Sie nennt mehr als {most} Server.</translation>
    </message>
    <message>
        <source>line {line}</source>
        <translation>Zeile {line}</translation>
    </message>
    <message>
        <source>its nesting</source>
        <translation>ihre Verschachtelung</translation>
    </message>
    <message>
        <source>it sends compressed answers, though none were asked for</source>
        <translation>er sendet komprimierte Antworten, obwohl keine verlangt wurden</translation>
    </message>
    <message>
        <source>it sent an answer of more than {size}</source>
        <translation>er hat eine Antwort von mehr als {size} gesendet</translation>
    </message>
    <message>
        <source>Correct “cwd” in its entry.</source>
        <translation>Berichtigen Sie „cwd“ in seinem Eintrag.</translation>
    </message>
    <message>
        <source>Install {package}, or correct the entry.</source>
        <translation>Installieren Sie {package}, oder berichtigen Sie den Eintrag.</translation>
    </message>
    <message>
        <source>Install it or correct the entry.</source>
        <translation>Installieren Sie ihn, oder berichtigen Sie den Eintrag.</translation>
    </message>
    <message>
        <source>it wrote a message of more than {size}</source>
        <translation>er hat eine Nachricht von mehr als {size} geschrieben</translation>
    </message>
    <message>
        <source>Correct its entry.</source>
        <translation>Berichtigen Sie seinen Eintrag.</translation>
    </message>
    <message>
        <source>The tool “{name}” is not there any more: its server has ended.</source>
        <translation>Das Werkzeug „{name}“ ist nicht mehr da: Sein Server ist beendet.</translation>
    </message>
    <message>
        <source>“{name}” did not answer: {why}.</source>
        <translation>„{name}“ hat nicht geantwortet: {why}.</translation>
    </message>
    <message>
        <source>it ended (exit status {status})</source>
        <translation>er hat sich beendet (Status {status})</translation>
    </message>
    <message>
        <source>The server “{name}” does not run. Restart it.</source>
        <translation>Der Server „{name}“ läuft nicht. Starten Sie ihn neu.</translation>
    </message>
    <message>
        <source>it took longer than {seconds:,.0f} seconds</source>
        <translation>es dauerte länger als {seconds:,.0f} Sekunden</translation>
    </message>
    <message>
        <source>it says “{words}”</source>
        <translation>er sagt: „{words}“</translation>
    </message>
    <message>
        <source>it was ended, because {reason}</source>
        <translation>er wurde beendet: {reason}</translation>
    </message>
    <message>
        <source>it ended (exit status {status}) with the words “{words}”</source>
        <translation>er hat sich beendet (Status {status}) mit den Worten „{words}“</translation>
    </message>
    <message>
        <source>nothing listens at {host}; start the server, or correct the address</source>
        <translation>unter {host} läuft kein Server; starten Sie ihn, oder berichtigen Sie die Adresse</translation>
    </message>
    <message>
        <source>the connection to {host} failed</source>
        <translation>die Verbindung zu {host} ist gescheitert</translation>
    </message>
    <message>
        <source>it asks for a key: put an Authorization header into its entry</source>
        <translation>er verlangt einen Schlüssel: Setzen Sie einen Authorization-Header in seinen Eintrag</translation>
    </message>
    <message>
        <source>it answers with the HTTP status {status}</source>
        <translation>er antwortet mit dem HTTP-Status {status}</translation>
    </message>
    <message>
        <source>Make another key on the Server page.</source>
        <translation>Erzeugen Sie auf der Seite „Server“ einen neuen Schlüssel.</translation>
    </message>
    <message>
        <source>Attach text, code, a PDF with text, an office document, or a book as EPUB; export other files to one of these.</source>
        <translation>Hängen Sie Text, Code, ein PDF mit Text, ein Office-Dokument oder ein Buch als EPUB an; andere Dateien lassen sich in eines davon exportieren.</translation>
    </message>
    <message>
        <source>There are more than {most} names.</source>
        <translation>Es sind mehr als {most} Namen.</translation>
    </message>
    <message>
        <source>{label} must be some of: {choices}.</source>
        <translation>{label} muss eine Auswahl sein aus: {choices}.</translation>
    </message>
    <message>
        <source>Check the network and the proxy; downloads continue where they stopped.</source>
        <translation>Prüfen Sie Netzwerk und Proxy; Downloads gehen dort weiter, wo sie stehen geblieben sind.</translation>
    </message>
    <message>
        <source>Try again later; a proxy or a mirror may have answered in its place.</source>
        <translation>Versuchen Sie es später noch einmal; vielleicht hat ein Proxy oder ein Mirror an seiner Stelle geantwortet.</translation>
    </message>
    <message>
        <source>{name} matches several models: {names}.</source>
        <translation>Zu {name} passen mehrere Modelle: {names}.</translation>
    </message>
    <message>
        <source>Get a new link from the page where you found this one.</source>
        <translation>Holen Sie sich einen neuen Link von der Seite, auf der Sie diesen gefunden haben.</translation>
    </message>
    <message>
        <source>The link to {host} is not encrypted, so the file could be changed on its way.</source>
        <translation>Der Link zu {host} ist nicht verschlüsselt, die Datei könnte also unterwegs verändert werden.</translation>
    </message>
    <message>
        <source>The chats before that were imported.</source>
        <translation>Die Chats davor wurden importiert.</translation>
    </message>
    <message>
        <source>A conversation has no list of messages.</source>
        <translation>Eine Unterhaltung hat keine Liste von Nachrichten.</translation>
    </message>
    <message>
        <source>A chat in this file is larger than {limit} MB.</source>
        <translation>Ein Chat in dieser Datei ist größer als {limit} MB.</translation>
    </message>
    <message>
        <source>Chat {number:,}</source>
        <translation>Chat {number:,}</translation>
    </message>
    <message>
        <source>{name} could not be imported: {reason}</source>
        <translation>{name} konnte nicht importiert werden: {reason}</translation>
    </message>
    <message>
        <source>it wrote a message with more than {most:,} values</source>
        <translation>er schrieb eine Nachricht mit mehr als {most:,} Werten</translation>
    </message>
    <message>
        <source>“{name}” is not used: {why}</source>
        <translation>„{name}“ wird nicht verwendet: {why}</translation>
    </message>
    <message>
        <source>This file needs a newer version</source>
        <translation>Diese Datei braucht eine neuere Version</translation>
    </message>
    <message>
        <source>Update Paceline, or choose another model; to download the file again would not help.</source>
        <translation>Aktualisieren Sie Paceline, oder wählen Sie ein anderes Modell; die Datei noch einmal herunterzuladen würde nicht helfen.</translation>
    </message>
    <message>
        <source>Choose the side file (mmproj) that was published with this model.</source>
        <translation>Wählen Sie die Nebendatei (mmproj), die mit diesem Modell veröffentlicht wurde.</translation>
    </message>
    <message>
        <source>This device cannot be used</source>
        <translation>Dieses Gerät kann nicht benutzt werden</translation>
    </message>
    <message>
        <source>Not enough memory</source>
        <translation>Nicht genug Arbeitsspeicher</translation>
    </message>
    <message>
        <source>Choose a smaller context or a smaller model, or close other programs.</source>
        <translation>Wählen Sie einen kleineren Kontext oder ein kleineres Modell, oder schließen Sie andere Programme.</translation>
    </message>
    <message>
        <source>The context could not be made</source>
        <translation>Der Kontext konnte nicht angelegt werden</translation>
    </message>
    <message>
        <source>Choose a smaller context in the settings.</source>
        <translation>Wählen Sie in den Einstellungen einen kleineren Kontext.</translation>
    </message>
    <message>
        <source>The prompt could not be made</source>
        <translation>Die Eingabe konnte nicht gebildet werden</translation>
    </message>
    <message>
        <source>Change the message, or start a new chat.</source>
        <translation>Ändern Sie die Nachricht, oder beginnen Sie einen neuen Chat.</translation>
    </message>
    <message>
        <source>The conversation is too long</source>
        <translation>Die Unterhaltung ist zu lang</translation>
    </message>
    <message>
        <source>Start a new chat, shorten the message, or choose a larger context in the settings.</source>
        <translation>Beginnen Sie einen neuen Chat, kürzen Sie die Nachricht, oder wählen Sie in den Einstellungen einen größeren Kontext.</translation>
    </message>
    <message>
        <source>The picture cannot be used</source>
        <translation>Das Bild ist nicht verwendbar</translation>
    </message>
    <message>
        <source>Give another picture.</source>
        <translation>Geben Sie ein anderes Bild an.</translation>
    </message>
    <message>
        <source>The chat template failed</source>
        <translation>Die Chat-Vorlage ist fehlgeschlagen</translation>
    </message>
    <message>
        <source>Choose another model file; this one&apos;s chat template is broken or unsafe.</source>
        <translation>Wählen Sie eine andere Modelldatei; die Chat-Vorlage in dieser ist defekt oder unsicher.</translation>
    </message>
    <message>
        <source>This grammar cannot be used</source>
        <translation>Diese Grammatik lässt sich nicht verwenden</translation>
    </message>
    <message>
        <source>Change the grammar or the schema.</source>
        <translation>Ändern Sie die Grammatik oder das Schema.</translation>
    </message>
    <message>
        <source>This draft does not fit the target</source>
        <translation>Dieses Entwurfsmodell passt nicht zum Zielmodell</translation>
    </message>
    <message>
        <source>Choose a draft of the same model family, or use the n-gram mode, which needs no draft.</source>
        <translation>Wählen Sie ein Entwurfsmodell derselben Modellfamilie, oder nehmen Sie den N-Gramm-Modus, der keines braucht.</translation>
    </message>
    <message>
        <source>This mode is not available</source>
        <translation>Dieser Modus ist nicht verfügbar</translation>
    </message>
    <message>
        <source>It needs about {needed} ({weights} of weights and {cache} for the context); {free} are free.</source>
        <translation>Das Modell braucht etwa {needed} ({weights} für Gewichte und {cache} für den Kontext); frei sind {free}.</translation>
    </message>
    <message>
        <source>Free {missing} of disk space, or choose another folder for the models.</source>
        <translation>Machen Sie {missing} Speicherplatz frei, oder wählen Sie einen anderen Ordner für die Modelle.</translation>
    </message>
    <message>
        <source>Choose a smaller model, or a quantization with fewer bits.</source>
        <translation>Wählen Sie ein kleineres Modell oder eine Quantisierung mit weniger Bits.</translation>
    </message>
    <message>
        <source>Choose a context of {n_ctx:,} tokens.</source>
        <translation>Wählen Sie einen Kontext von {n_ctx:,} Token.</translation>
    </message>
    <message>
        <source>it has tokens that begin with the byte {byte}, but no token for that byte alone</source>
        <translation>sie hat Token, die mit dem Byte {byte} beginnen, aber keines für dieses Byte allein</translation>
    </message>
    <message>
        <source>its table of characters has {length:,} bytes</source>
        <translation>ihre Zeichentabelle hat {length:,} Byte</translation>
    </message>
    <message>
        <source>its table of characters is cut short</source>
        <translation>ihre Zeichentabelle ist abgeschnitten</translation>
    </message>
    <message>
        <source>its table of characters has no end</source>
        <translation>ihre Zeichentabelle hat kein Ende</translation>
    </message>
    <message>
        <source>its table of characters points outside of itself</source>
        <translation>ihre Zeichentabelle zeigt über sich hinaus</translation>
    </message>
    <message>
        <source>its table of characters has a replacement without an end</source>
        <translation>ihre Zeichentabelle hat eine Ersetzung ohne Ende</translation>
    </message>
    <message>
        <source>{name} drafts for itself: it has {count} next-token layers (MTP).</source>
        <translation>{name} entwirft selbst: Es hat {count} MTP-Schichten.</translation>
    </message>
    <message>
        <source>{lane}: {ratio:.2f}× the speed of {base}</source>
        <translation>{lane}: {ratio:.2f}× so schnell wie {base}</translation>
    </message>
    <message>
        <source>{speed} ({low:.2f} to {high:.2f} over {rounds} rounds), so it is not certain which is faster.</source>
        <translation>{speed} ({low:.2f} bis {high:.2f} in {rounds} Runden); es ist nicht sicher, welche schneller ist.</translation>
    </message>
    <message>
        <source>The answers differ at token {token:,}.</source>
        <translation>Die Antworten unterscheiden sich bei Token {token:,}.</translation>
    </message>
    <message>
        <source>This should not happen: answers are exact on this computer. Please report it.</source>
        <translation>Das sollte nicht geschehen: Auf diesem Rechner sind Antworten exakt. Bitte melden Sie es.</translation>
    </message>
    <message>
        <source>{lane} and {base} cannot be compared.</source>
        <translation>{lane} und {base} lassen sich nicht vergleichen.</translation>
    </message>
    <message>
        <source>{speed}, in a round that was cut short.</source>
        <translation>{speed}, in einer abgebrochenen Runde.</translation>
    </message>
    <message>
        <source>{speed}. One round gives no interval.</source>
        <translation>{speed}. Eine einzelne Runde ergibt kein Intervall.</translation>
    </message>
    <message>
        <source>{speed}. The rounds were too different for an interval.</source>
        <translation>{speed}. Die Runden waren für ein Intervall zu verschieden.</translation>
    </message>
    <message>
        <source>{speed} ({low:.2f} to {high:.2f} over {rounds} rounds).</source>
        <translation>{speed} ({low:.2f} bis {high:.2f} in {rounds} Runden).</translation>
    </message>
    <message>
        <source>Same answer, token for token.</source>
        <translation>Gleiche Antwort, Token für Token.</translation>
    </message>
    <message>
        <source>Same text, up to the end of the shorter answer.</source>
        <translation>Gleicher Text, bis zum Ende der kürzeren Antwort.</translation>
    </message>
    <message>
        <source>The answers differ at token {token:,} in {some} of {all} rounds.</source>
        <translation>Die Antworten unterscheiden sich bei Token {token:,} in {some} von {all} Runden.</translation>
    </message>
    <message>
        <source>The server sent a different number of bytes than announced.</source>
        <translation>Der Server hat eine andere Anzahl Bytes geschickt als angekündigt.</translation>
    </message>
    <message>
        <source>The hub requires a valid access token for {what} (HTTP {status}).</source>
        <translation>Der Hub verlangt für {what} ein gültiges Zugangstoken (HTTP {status}).</translation>
    </message>
    <message>
        <source>The server of {what} is busy (HTTP {status}).</source>
        <translation>Der Server von {what} ist überlastet (HTTP {status}).</translation>
    </message>
    <message>
        <source>{what} is shared only with those who accepted its terms.</source>
        <translation>{what} steht nur Konten offen, die den Bedingungen zugestimmt haben.</translation>
    </message>
    <message>
        <source>The server no longer has these bytes of {what}.</source>
        <translation>Der Server hat diese Bytes von {what} nicht mehr.</translation>
    </message>
    <message>
        <source>{name} does not match its checksum and was discarded.</source>
        <translation>{name} passt nicht zur Prüfsumme und wurde verworfen.</translation>
    </message>
    <message>
        <source>The server cannot be reached</source>
        <translation>Der Server ist nicht erreichbar</translation>
    </message>
    <message>
        <source>The server is busy</source>
        <translation>Der Server ist überlastet</translation>
    </message>
    <message>
        <source>The file has changed on the server</source>
        <translation>Die Datei hat sich auf dem Server geändert</translation>
    </message>
    <message>
        <source>Check the path; a model in several parts needs all of them.</source>
        <translation>Prüfen Sie den Pfad; von einem mehrteiligen Modell werden alle Teile gebraucht.</translation>
    </message>
    <message>
        <source>Check the link; it may have expired. If it needs a sign-in, download the file with your browser and open it.</source>
        <translation>Prüfe den Link; er kann abgelaufen sein. Wenn er eine Anmeldung verlangt, lade die Datei mit dem Browser herunter und öffne sie.</translation>
    </message>
    <message>
        <source>{host} refuses this file (HTTP {status}).</source>
        <translation>{host} gibt diese Datei nicht heraus (HTTP {status}).</translation>
    </message>
    <message>
        <source>By its file header, this head matches the target.</source>
        <translation>Laut Dateikopf passt dieser Entwurfskopf zum Zielmodell.</translation>
    </message>
    <message>
        <source>Choose a model made for them, such as Nomic Embed or EmbeddingGemma, in the settings.</source>
        <translation>Wählen Sie in den Einstellungen eines, das dafür gemacht ist, etwa Nomic Embed oder EmbeddingGemma.</translation>
    </message>
    <message>
        <source>The projects could not be saved: {reason}</source>
        <translation>Die Projekte konnten nicht gespeichert werden: {reason}</translation>
    </message>
    <message>
        <source>This is not an http or https address.</source>
        <translation>Das ist keine http- oder https-Adresse.</translation>
    </message>
    <message>
        <source>{host} does not have this address.</source>
        <translation>{host} hat diese Adresse nicht.</translation>
    </message>
    <message>
        <source>remote servers</source>
        <translation>Remote-Server</translation>
    </message>
    <message>
        <source>no remote servers</source>
        <translation>keinen Remote-Servern</translation>
    </message>
    <message>
        <source>The server decides how it drafts; its card under Models, Remote servers shows the details.</source>
        <translation>Der Server entscheidet, wie er entwirft; Näheres steht unter Modelle, Remote-Server.</translation>
    </message>
    <message>
        <source>The file is cut off.</source>
        <translation>Die Datei ist abgeschnitten.</translation>
    </message>
    <message>
        <source>{number:,} could not be imported. The first:</source>
        <translation>{number:,} konnten nicht importiert werden. Der erste:</translation>
    </message>
    <message>
        <source>{path} is not UTF-8 text.</source>
        <translation>{path} ist kein UTF-8-Text.</translation>
    </message>
    <message>
        <source>It is not JSON: see {where}.</source>
        <translation>Sie ist kein JSON: siehe {where}.</translation>
    </message>
    <message>
        <source>The entry is not an object.</source>
        <translation>Der Eintrag ist kein Objekt.</translation>
    </message>
    <message>
        <source>the sign-in has ended: sign in again, on the Tools page of the settings</source>
        <translation>die Anmeldung ist abgelaufen: Melden Sie sich auf der Seite „Werkzeuge“ der Einstellungen neu an</translation>
    </message>
    <message>
        <source>it redirects requests to another address</source>
        <translation>er leitet Anfragen an eine andere Adresse weiter</translation>
    </message>
    <message>
        <source>its sign-in page is at an address that is not allowed</source>
        <translation>seine Anmeldeseite hat eine Adresse, die nicht erlaubt ist</translation>
    </message>
    <message>
        <source>its sign-in server accepts only programs that it knows</source>
        <translation>sein Anmeldedienst nimmt nur Programme an, die er kennt</translation>
    </message>
    <message>
        <source>its answer is not an OAuth sign-in</source>
        <translation>seine Antwort ist keine Anmeldung nach OAuth</translation>
    </message>
    <message>
        <source>its arguments are not an object</source>
        <translation>seine Argumente sind kein Objekt</translation>
    </message>
    <message>
        <source>it has too many arguments, or they are nested too deep</source>
        <translation>es hat zu viele Argumente, oder sie sind zu tief verschachtelt</translation>
    </message>
    <message>
        <source>its answer does not follow the protocol</source>
        <translation>seine Antwort hält sich nicht an das Protokoll</translation>
    </message>
    <message>
        <source>it requires a feature that Paceline does not have</source>
        <translation>er verlangt eine Funktion, die Paceline nicht hat</translation>
    </message>
    <message>
        <source>it asks you to sign in: choose “Sign in” beside it on the Tools page of the settings, or put a token into “headers” of its entry as Authorization</source>
        <translation>er verlangt eine Anmeldung: Wählen Sie auf der Seite „Werkzeuge“ der Einstellungen daneben „Anmelden“, oder tragen Sie ein Token unter „headers“ seines Eintrags als Authorization ein</translation>
    </message>
    <message>
        <source>it sent something that is not JSON: “{words}”</source>
        <translation>er hat etwas geschickt, das kein JSON ist: „{words}“</translation>
    </message>
    <message>
        <source>This vision file cannot be used</source>
        <translation>Diese Datei für Bilder ist nicht verwendbar</translation>
    </message>
    <message>
        <source>Choose one that “paceline doctor” lists, or none.</source>
        <translation>Wählen Sie eines, das „paceline doctor“ auflistet, oder keines.</translation>
    </message>
    <message>
        <source>The model&apos;s computation failed</source>
        <translation>Die Berechnung des Modells ist fehlgeschlagen</translation>
    </message>
    <message>
        <source>{name} has no next-token layers (MTP): it cannot draft for itself.</source>
        <translation>{name} hat keine MTP-Schichten und kann nicht selbst entwerfen.</translation>
    </message>
    <message>
        <source>{name} drafts for itself: it has a next-token layer (MTP).</source>
        <translation>{name} entwirft selbst: Es hat eine MTP-Schicht.</translation>
    </message>
    <message>
        <source>it claims {num_tensors:,} tensors</source>
        <translation>sie behauptet, {num_tensors:,} Tensoren zu haben</translation>
    </message>
    <message>
        <source>it claims {num_entries:,} metadata entries</source>
        <translation>sie behauptet, {num_entries:,} Metadaten-Einträge zu haben</translation>
    </message>
    <message>
        <source>it was written for big-endian machines</source>
        <translation>sie wurde für Big-Endian-Rechner geschrieben</translation>
    </message>
    <message>
        <source>it has the GGUF version {version}, and only 2 and 3 are known</source>
        <translation>sie hat die GGUF-Version {version}, und nur 2 und 3 sind bekannt</translation>
    </message>
    <message>
        <source>the entry {key!r} is neither true nor false</source>
        <translation>der Eintrag {key!r} ist weder wahr noch falsch</translation>
    </message>
    <message>
        <source>the entry {key!r} is a list of lists, which no model needs</source>
        <translation>der Eintrag {key!r} ist eine Liste von Listen, die kein Modell braucht</translation>
    </message>
    <message>
        <source>the entry {key!r} claims {length:,} items</source>
        <translation>der Eintrag {key!r} behauptet, {length:,} Elemente zu haben</translation>
    </message>
    <message>
        <source>the entry {key!r} has the unknown type {number}</source>
        <translation>der Eintrag {key!r} hat den unbekannten Typ {number}</translation>
    </message>
    <message>
        <source>its alignment is not a power of two from 8 on</source>
        <translation>ihre Ausrichtung ist keine Zweierpotenz ab 8</translation>
    </message>
    <message>
        <source>the tensor {name!r} has {num_dims:,} dimensions</source>
        <translation>der Tensor {name!r} hat {num_dims:,} Dimensionen</translation>
    </message>
    <message>
        <source>the tensor {name!r} has the unknown type {kind}</source>
        <translation>der Tensor {name!r} hat den unbekannten Typ {kind}</translation>
    </message>
    <message>
        <source>the tensor {name!r} has a dimension of 0</source>
        <translation>der Tensor {name!r} hat eine Dimension von 0</translation>
    </message>
    <message>
        <source>the tensor {name!r} claims {number:,} values</source>
        <translation>der Tensor {name!r} behauptet, {number:,} Werte zu haben</translation>
    </message>
    <message>
        <source>the rows of {name!r} are not whole blocks of {block}</source>
        <translation>die Zeilen von {name!r} sind keine ganzen Blöcke von {block}</translation>
    </message>
    <message>
        <source>the tensor {name!r} is not aligned</source>
        <translation>der Tensor {name!r} ist nicht ausgerichtet</translation>
    </message>
    <message>
        <source>two of its tensors have the same name</source>
        <translation>zwei ihrer Tensoren haben denselben Namen</translation>
    </message>
    <message>
        <source>the entry {key!r} appears twice</source>
        <translation>der Eintrag {key!r} kommt zweimal vor</translation>
    </message>
    <message>
        <source>a tensor&apos;s name</source>
        <translation>der Name eines Tensors</translation>
    </message>
    <message>
        <source>the tensor {tensor!r} overlaps another</source>
        <translation>der Tensor {tensor!r} überlappt einen anderen</translation>
    </message>
    <message>
        <source>a metadata key</source>
        <translation>ein Metadaten-Schlüssel</translation>
    </message>
    <message>
        <source>the entry {key!r}</source>
        <translation>der Eintrag {key!r}</translation>
    </message>
    <message>
        <source>{subject} has weights of a type that is not known here ({kind}).</source>
        <translation>{subject} hat Gewichte einer Art, die hier nicht bekannt ist ({kind}).</translation>
    </message>
    <message>
        <source>one of its control tokens is {longest:,} bytes long</source>
        <translation>eines seiner Steuertoken ist {longest:,} Byte lang</translation>
    </message>
    <message>
        <source>The head reads hidden states of {wanted} numbers, and the target&apos;s have {width}: it belongs to another model.</source>
        <translation>Der Kopf liest innere Zustände aus {wanted} Zahlen, die des Zielmodells haben {width}: Er gehört zu einem anderen Modell.</translation>
    </message>
    <message>
        <source>Open that model, and choose this file as its draft.</source>
        <translation>Öffnen Sie jenes Modell und wählen Sie diese Datei als sein Entwurfsmodell.</translation>
    </message>
    <message>
        <source>a projector, the image or sound part of another model</source>
        <translation>ein Projektor, der Bild- oder Tonteil eines anderen Modells</translation>
    </message>
    <message>
        <source>a draft head (EAGLE-3) of another model</source>
        <translation>ein Entwurfskopf (EAGLE-3) eines anderen Modells</translation>
    </message>
    <message>
        <source>the next-token heads (MTP) of another model</source>
        <translation>die MTP-Köpfe eines anderen Modells</translation>
    </message>
    <message>
        <source>{name} has no chat template: it gets messages in a form that it may not have been trained for.</source>
        <translation>{name} hat keine Chat-Vorlage: Nachrichten erreichen das Modell in einer Form, für die es vielleicht nicht trainiert wurde.</translation>
    </message>
    <message>
        <source>Open the first part, {first}.</source>
        <translation>Öffnen Sie den ersten Teil, {first}.</translation>
    </message>
    <message>
        <source>Open the first part.</source>
        <translation>Öffnen Sie den ersten Teil.</translation>
    </message>
    <message>
        <source>{name} is part {number} of {count} of a model.</source>
        <translation>{name} ist Teil {number} von {count} eines Modells.</translation>
    </message>
    <message>
        <source>Ask again if you need it.</source>
        <translation>Fragen Sie bei Bedarf erneut.</translation>
    </message>
    <message>
        <source>Reading the header was cancelled.</source>
        <translation>Das Lesen des Dateikopfs wurde abgebrochen.</translation>
    </message>
    <message>
        <source>its header is longer than {max_bytes} MB</source>
        <translation>ihr Kopf ist länger als {max_bytes} MB</translation>
    </message>
    <message>
        <source>it ends after {have:,} of {file_size:,} bytes</source>
        <translation>sie endet nach {have:,} von {file_size:,} Bytes</translation>
    </message>
    <message>
        <source>The file</source>
        <translation>Die Datei</translation>
    </message>
    <message>
        <source>{what} claims {length:,} bytes</source>
        <translation>{what} behauptet, {length:,} Bytes zu haben</translation>
    </message>
    <message>
        <source>it ends in the middle of its header (an incomplete download?)</source>
        <translation>sie endet mitten in ihrem Kopf (ein unvollständiger Download?)</translation>
    </message>
    <message>
        <source>its header is longer than {max_header_bytes} MB</source>
        <translation>ihr Kopf ist länger als {max_header_bytes} MB</translation>
    </message>
    <message>
        <source>{subject} is damaged or not a model: {reason}.</source>
        <translation>{subject} ist beschädigt oder kein Modell: {reason}.</translation>
    </message>
    <message>
        <source>a text in it claims {length:,} bytes</source>
        <translation>ein Text darin behauptet, {length:,} Bytes zu haben</translation>
    </message>
    <message>
        <source>This build of llama.cpp has no {functions}, which heads of the kind {method} need.</source>
        <translation>Diesem Build von llama.cpp fehlt {functions}; Köpfe der Art {method} brauchen das.</translation>
    </message>
    <message>
        <source>Use a file with only the pages that matter.</source>
        <translation>Verwenden Sie eine Datei, die nur die wichtigen Seiten enthält.</translation>
    </message>
    <message>
        <source>“{name}” is an archive or a document of a kind that cannot be read.</source>
        <translation>„{name}“ ist ein Archiv oder ein Dokument, dessen Format nicht gelesen werden kann.</translation>
    </message>
    <message>
        <source>Reading “{name}” takes more memory than a document of its size should.</source>
        <translation>„{name}“ braucht beim Lesen mehr Speicher, als ein Dokument dieser Größe sollte.</translation>
    </message>
    <message>
        <source>The lane {lane}: {reason}</source>
        <translation>Bahn „{lane}“: {reason}</translation>
    </message>
    <message>
        <source>The question and the messages before it have {num_ids:,} tokens, but the context holds {size:,}.</source>
        <translation>Die Frage und die Nachrichten davor haben {num_ids:,} Token, der Kontext fasst aber nur {size:,}.</translation>
    </message>
    <message>
        <source>Measured here: {speedup:.2f}× the speed without drafting, in a race ({low:.2f}–{high:.2f}).</source>
        <translation>Hier gemessen: {speedup:.2f}× so schnell wie ohne Entwürfe, in einem Rennen ({low:.2f}–{high:.2f}).</translation>
    </message>
    <message>
        <source>Measured here: {speedup:.2f}× the speed without drafting, in a race.</source>
        <translation>Hier gemessen: {speedup:.2f}× so schnell wie ohne Entwürfe, in einem Rennen.</translation>
    </message>
    <message>
        <source>Measured here: {speedup:.2f}× the speed without drafting, in one answer.</source>
        <translation>Hier gemessen: {speedup:.2f}× so schnell wie ohne Entwürfe, in einer Antwort.</translation>
    </message>
    <message>
        <source>Measured here: {speedup:.2f}× the speed without drafting, over the last {num_answers} answers.</source>
        <translation>Hier gemessen: {speedup:.2f}× so schnell wie ohne Entwürfe, über die letzten {num_answers} Antworten.</translation>
    </message>
    <message>
        <source>“{name}” is {size}; the limit is {limit}.</source>
        <translation>„{name}“ hat {size}; höchstens {limit} sind möglich.</translation>
    </message>
    <message>
        <source>{name} was not made for embeddings.</source>
        <translation>{name} ist kein Embedding-Modell.</translation>
    </message>
    <message>
        <source>The project could not be used</source>
        <translation>Das Projekt kann nicht verwendet werden</translation>
    </message>
    <message>
        <source>Choose another one; “paceline projects list” names them.</source>
        <translation>Wählen Sie ein anderes; „paceline projects list“ nennt alle.</translation>
    </message>
    <message>
        <source>projects</source>
        <translation>Projekte</translation>
    </message>
    <message>
        <source>no projects</source>
        <translation>keinen Projekten</translation>
    </message>
    <message>
        <source>There is no project called {name}.</source>
        <translation>Es gibt kein Projekt namens {name}.</translation>
    </message>
    <message>
        <source>A project needs a name.</source>
        <translation>Ein Projekt braucht einen Namen.</translation>
    </message>
    <message>
        <source>Give one.</source>
        <translation>Geben Sie einen an.</translation>
    </message>
    <message>
        <source>There are too many projects.</source>
        <translation>Es gibt zu viele Projekte.</translation>
    </message>
    <message>
        <source>Add some: paceline projects add {name} FOLDER</source>
        <translation>Fügen Sie welche hinzu: paceline projects add {name} ORDNER</translation>
    </message>
    <message>
        <source>The project {name} has no files.</source>
        <translation>Das Projekt {name} hat keine Dateien.</translation>
    </message>
    <message>
        <source>A proxy or a mirror may be changing the file. Try another network.</source>
        <translation>Vielleicht verändert ein Proxy oder ein Mirror die Datei. Versuchen Sie es in einem anderen Netzwerk.</translation>
    </message>
    <message>
        <source>Set the environment variable HF_TOKEN instead. Paceline does not write tokens to files.</source>
        <translation>Setzen Sie stattdessen die Umgebungsvariable HF_TOKEN. Paceline schreibt keine Token in Dateien.</translation>
    </message>
    <message>
        <source>The connection may be intercepted. Ask the operator of the server or of your network.</source>
        <translation>Die Verbindung wird möglicherweise abgefangen. Fragen Sie den Betreiber des Servers oder Ihres Netzwerks.</translation>
    </message>
    <message>
        <source>{host} redirects to an invalid address.</source>
        <translation>{host} leitet auf eine ungültige Adresse um.</translation>
    </message>
    <message>
        <source>The link leads to only {size} bytes, which cannot be a model.</source>
        <translation>Hinter dem Link liegen nur {size} Byte, das kann kein Modell sein.</translation>
    </message>
    <message>
        <source>A remote server cannot continue a text with pictures.</source>
        <translation>Ein Remote-Server kann keinen Text mit Bildern fortsetzen.</translation>
    </message>
    <message>
        <source>Ask for the answer again instead.</source>
        <translation>Fordern Sie die Antwort stattdessen neu an.</translation>
    </message>
    <message>
        <source>Of all remote servers, only llama-server supports grammars.</source>
        <translation>Von den Remote-Servern unterstützt nur llama-server Grammatiken.</translation>
    </message>
    <message>
        <source>Enter the server&apos;s new address.</source>
        <translation>Geben Sie die neue Adresse des Servers ein.</translation>
    </message>
    <message>
        <source>The address may contain only a host, a port and a path.</source>
        <translation>Die Adresse darf nur Host, Port und Pfad enthalten.</translation>
    </message>
    <message>
        <source>The remote server&apos;s answer is not a JSON object.</source>
        <translation>Die Antwort des Remote-Servers ist kein JSON-Objekt.</translation>
    </message>
    <message>
        <source>The remote server&apos;s answer is not JSON.</source>
        <translation>Die Antwort des Remote-Servers ist kein JSON.</translation>
    </message>
    <message>
        <source>{host} redirects to another address. Paceline does not follow it.</source>
        <translation>{host} leitet an eine andere Adresse um. Paceline folgt ihr nicht.</translation>
    </message>
    <message>
        <source>{host} needs a key, and none is stored for it.</source>
        <translation>{host} verlangt einen Schlüssel, und es ist keiner gespeichert.</translation>
    </message>
    <message>
        <source>This is not a valid key: it contains spaces, line breaks or other invalid characters, or it is too long.</source>
        <translation>Das ist kein gültiger Schlüssel: Er enthält Leerzeichen, Zeilenumbrüche oder andere unzulässige Zeichen, oder er ist zu lang.</translation>
    </message>
    <message>
        <source>The conversation does not fit the context of {host}.</source>
        <translation>Die Unterhaltung passt nicht in den Kontext von {host}.</translation>
    </message>
    <message>
        <source>{host} accepts no requests at the moment ({status}).</source>
        <translation>{host} nimmt zurzeit keine Anfragen an ({status}).</translation>
    </message>
    <message>
        <source>{host} ended the answer early.</source>
        <translation>{host} hat die Antwort vorzeitig beendet.</translation>
    </message>
    <message>
        <source>{host} does not answer.</source>
        <translation>{host} antwortet nicht.</translation>
    </message>
    <message>
        <source>{host} sent nothing for {seconds} seconds.</source>
        <translation>{host} hat {seconds} Sekunden lang nichts gesendet.</translation>
    </message>
    <message>
        <source>The answer of {host} is not JSON.</source>
        <translation>Die Antwort von {host} ist kein JSON.</translation>
    </message>
    <message>
        <source>This remote server is no longer in the list.</source>
        <translation>Dieser Remote-Server steht nicht mehr in der Liste.</translation>
    </message>
    <message>
        <source>The remote server offers no model.</source>
        <translation>Der Remote-Server bietet kein Modell an.</translation>
    </message>
    <message>
        <source>Load a model there, then add the server again.</source>
        <translation>Laden Sie dort ein Modell, und fügen Sie den Server dann noch einmal hinzu.</translation>
    </message>
    <message>
        <source>Set up a keyring such as GNOME Keyring or KWallet. Paceline does not write keys to files.</source>
        <translation>Richten Sie einen Schlüsselbund wie GNOME Keyring oder KWallet ein. Paceline schreibt keine Schlüssel in Dateien.</translation>
    </message>
    <message>
        <source>The remote server could not answer</source>
        <translation>Der Remote-Server konnte nicht antworten</translation>
    </message>
    <message>
        <source>Try again. If it happens again, look at the server&apos;s own log.</source>
        <translation>Versuchen Sie es noch einmal. Passiert es wieder, hilft das Protokoll des Servers weiter.</translation>
    </message>
    <message>
        <source>The remote server cannot be reached</source>
        <translation>Der Remote-Server ist nicht erreichbar</translation>
    </message>
    <message>
        <source>Check that it is running, its address and the network.</source>
        <translation>Prüfen Sie, ob er läuft, seine Adresse und das Netzwerk.</translation>
    </message>
    <message>
        <source>The remote server did not answer in time</source>
        <translation>Der Remote-Server hat nicht rechtzeitig geantwortet</translation>
    </message>
    <message>
        <source>The remote server refused the key</source>
        <translation>Der Remote-Server hat den Schlüssel abgelehnt</translation>
    </message>
    <message>
        <source>Enter the key again. The server&apos;s operator can give it to you.</source>
        <translation>Geben Sie den Schlüssel noch einmal ein. Sie bekommen ihn vom Betreiber des Servers.</translation>
    </message>
    <message>
        <source>The remote server does not have this model</source>
        <translation>Der Remote-Server hat dieses Modell nicht</translation>
    </message>
    <message>
        <source>Choose another model of this server, or refresh its list.</source>
        <translation>Wählen Sie ein anderes Modell dieses Servers, oder aktualisieren Sie seine Liste.</translation>
    </message>
    <message>
        <source>The conversation is too long for the remote server</source>
        <translation>Die Unterhaltung ist zu lang für den Remote-Server</translation>
    </message>
    <message>
        <source>Leave out the oldest messages (in the chat&apos;s settings), shorten the message, or start the server with a larger context.</source>
        <translation>Lassen Sie die ältesten Nachrichten weg (in den Einstellungen des Chats), kürzen Sie die Nachricht, oder starten Sie den Server mit einem größeren Kontext.</translation>
    </message>
    <message>
        <source>The remote server is busy</source>
        <translation>Der Remote-Server ist ausgelastet</translation>
    </message>
    <message>
        <source>The text so far is kept. Continue the answer, or ask for it again.</source>
        <translation>Der bisherige Text bleibt erhalten. Setzen Sie die Antwort fort, oder fordern Sie sie neu an.</translation>
    </message>
    <message>
        <source>The remote server refused the request</source>
        <translation>Der Remote-Server hat die Anfrage abgelehnt</translation>
    </message>
    <message>
        <source>Change the message or the sampling settings.</source>
        <translation>Ändern Sie die Nachricht oder die Sampling-Einstellungen.</translation>
    </message>
    <message>
        <source>The remote server&apos;s answer could not be understood</source>
        <translation>Die Antwort des Remote-Servers war nicht zu verstehen</translation>
    </message>
    <message>
        <source>The list of remote servers was not saved</source>
        <translation>Die Liste der Remote-Server wurde nicht gespeichert</translation>
    </message>
    <message>
        <source>The conversation does not fit the remote server&apos;s context.</source>
        <translation>Die Unterhaltung passt nicht in den Kontext des Remote-Servers.</translation>
    </message>
    <message>
        <source>Something went wrong with the remote server</source>
        <translation>Beim Remote-Server ist etwas schiefgegangen</translation>
    </message>
    <message>
        <source>The same question may get another answer: that depends on the remote server.</source>
        <translation>Dieselbe Frage kann eine andere Antwort bekommen: Das hängt vom Remote-Server ab.</translation>
    </message>
    <message>
        <source>The entry contains a NUL character.</source>
        <translation>Der Eintrag enthält ein NUL-Zeichen.</translation>
    </message>
    <message>
        <source>The address contains a user name or password. Put it into “headers”.</source>
        <translation>Die Adresse enthält einen Benutzernamen oder ein Passwort. Tragen Sie es unter „headers“ ein.</translation>
    </message>
    <message>
        <source>A header contains characters that HTTP does not allow.</source>
        <translation>Ein Header enthält Zeichen, die HTTP nicht erlaubt.</translation>
    </message>
    <message>
        <source>“{name}” does not offer a sign-in.</source>
        <translation>„{name}“ bietet keine Anmeldung an.</translation>
    </message>
    <message>
        <source>Set the mode to Off.</source>
        <translation>Stellen Sie den Modus auf „Aus“.</translation>
    </message>
    <message>
        <source>Open it in its own program and save or print it again, or copy the text that matters.</source>
        <translation>Öffnen Sie die Datei im zugehörigen Programm und speichern oder drucken Sie sie neu, oder kopieren Sie den wichtigen Text.</translation>
    </message>
    <message>
        <source>Its list of tools is too long: only pages 1 to {number} were read.</source>
        <translation>Seine Werkzeugliste ist zu lang: Nur die Seiten 1 bis {number} wurden gelesen.</translation>
    </message>
    <message>
        <source>Its vocabulary differs and has {percent:.0f}% of the target&apos;s tokens.</source>
        <translation>Es hat ein anderes Vokabular, mit {percent:.0f} % der Token des Zielmodells.</translation>
    </message>
    <message>
        <source>The project {name} was imported.</source>
        <translation>Das Projekt {name} wurde importiert.</translation>
    </message>
    <message>
        <source>Choose another folder.</source>
        <translation>Wählen Sie einen anderen Ordner.</translation>
    </message>
    <message>
        <source>Export the project again.</source>
        <translation>Exportieren Sie das Projekt noch einmal.</translation>
    </message>
    <message>
        <source>{file} was written by another version of Paceline.</source>
        <translation>{file} wurde von einer anderen Version von Paceline geschrieben.</translation>
    </message>
    <message>
        <source>There is a project called {name} already.</source>
        <translation>Es gibt schon ein Projekt namens {name}.</translation>
    </message>
    <message>
        <source>Rename or remove it.</source>
        <translation>Benennen Sie es um, oder entfernen Sie es.</translation>
    </message>
    <message>
        <source>{file} contains too many files for a project.</source>
        <translation>{file} enthält zu viele Dateien für ein Projekt.</translation>
    </message>
    <message>
        <source>{name} says that it has next-token layers (MTP), but they are not in the file: they were left out when it was made. A file with them drafts for itself.</source>
        <translation>{name} gibt an, MTP-Schichten zu haben, aber sie fehlen in der Datei: Sie wurden beim Erstellen weggelassen. Eine Datei, die sie enthält, entwirft selbst.</translation>
    </message>
    <message>
        <source>Open the model that it belongs to, and keep this file in the same folder.</source>
        <translation>Öffnen Sie das Modell, zu dem sie gehört, und lassen Sie diese Datei im selben Ordner.</translation>
    </message>
    <message>
        <source>The head is made for models of the architecture {of_head}, and the target is {of_target}.</source>
        <translation>Der Kopf ist für Modelle der Architektur {of_head} gemacht, das Zielmodell ist {of_target}.</translation>
    </message>
    <message>
        <source>The head does not name the three layers of the target that it reads.</source>
        <translation>Der Kopf nennt nicht die drei Schichten des Zielmodells, die er liest.</translation>
    </message>
    <message>
        <source>The head does not name its mask token.</source>
        <translation>Der Kopf nennt sein Masken-Token nicht.</translation>
    </message>
    <message>
        <source>The head does not name the layers of the target that it reads.</source>
        <translation>Der Kopf nennt die Schichten des Modells nicht, die er liest.</translation>
    </message>
    <message>
        <source>The head reads layer {layer} of its target, and this one has {most}.</source>
        <translation>Der Kopf liest Schicht {layer} seines Zielmodells, und dieses hat {most}.</translation>
    </message>
    <message>
        <source>The head uses the target&apos;s embedding or output layer, which has another width than its own.</source>
        <translation>Der Kopf benutzt die Einbettungs- oder Ausgabeschicht des Zielmodells, die eine andere Breite hat als er.</translation>
    </message>
    <message>
        <source>The head has a vocabulary of its own, but no output layer for it.</source>
        <translation>Der Kopf hat ein eigenes Vokabular, aber keine Ausgabeschicht dafür.</translation>
    </message>
    <message>
        <source>The head&apos;s {key} is not the target&apos;s: it belongs to another model.</source>
        <translation>{key} des Kopfes ist anders als beim Modell: Er gehört zu einem anderen Modell.</translation>
    </message>
    <message>
        <source>There is no device {name}; llama.cpp finds: {names}.</source>
        <translation>Es gibt kein Gerät {name}; llama.cpp findet: {names}.</translation>
    </message>
    <message>
        <source>The device {name} is not used: it could not be tried with a small model.</source>
        <translation>Das Gerät {name} wird nicht benutzt: Es konnte nicht mit einem kleinen Modell geprüft werden.</translation>
    </message>
    <message>
        <source>A newer driver may help; “paceline doctor” says more.</source>
        <translation>Ein neuerer Treiber kann helfen; mehr sagt „paceline doctor“.</translation>
    </message>
    <message>
        <source>The device {name} is named twice.</source>
        <translation>Das Gerät {name} ist zweimal angegeben.</translation>
    </message>
    <message>
        <source>The model gave numbers that are not finite: its file is damaged.</source>
        <translation>Das Modell gab Zahlen aus, die nicht endlich sind: Seine Datei ist beschädigt.</translation>
    </message>
    <message>
        <source>llama.cpp could not encode the target&apos;s layers for the head (code {code}): {reason}.</source>
        <translation>llama.cpp konnte die Schichten des Zielmodells nicht für den Kopf umrechnen (Code {code}): {reason}.</translation>
    </message>
    <message>
        <source>{path} cannot be split that way: {reason}.</source>
        <translation>{path} lässt sich so nicht aufteilen: {reason}.</translation>
    </message>
    <message>
        <source>Choose another split: layer by layer works everywhere.</source>
        <translation>Wählen Sie eine andere Aufteilung: Schicht für Schicht funktioniert überall.</translation>
    </message>
    <message>
        <source>Give it another size: very narrow pictures are refused by some models.</source>
        <translation>Geben Sie ihm eine andere Größe: Sehr schmale Bilder lehnen manche Modelle ab.</translation>
    </message>
    <message>
        <source>Choose a side file (mmproj) for pictures.</source>
        <translation>Wählen Sie eine Nebendatei (mmproj) für Bilder.</translation>
    </message>
    <message>
        <source>Give a smaller picture.</source>
        <translation>Geben Sie ein kleineres Bild an.</translation>
    </message>
    <message>
        <source>The encoder cannot take a picture of {width} x {height} pixels.</source>
        <translation>Der Encoder kann kein Bild von {width} x {height} Pixeln aufnehmen.</translation>
    </message>
    <message>
        <source>This llama.cpp cannot read pictures: its library libmtmd cannot be loaded ({reason}).</source>
        <translation>Dieses llama.cpp kann keine Bilder lesen: Seine Bibliothek libmtmd lässt sich nicht laden ({reason}).</translation>
    </message>
    <message>
        <source>{path} hears, but does not see: it has no encoder for pictures.</source>
        <translation>{path} hört, sieht aber nicht: Die Datei hat keinen Encoder für Bilder.</translation>
    </message>
    <message>
        <source>The encoder could not read the picture: {reason}.</source>
        <translation>Der Encoder konnte das Bild nicht lesen: {reason}.</translation>
    </message>
    <message>
        <source>{path} is damaged: its encoder gave numbers that are not finite.</source>
        <translation>{path} ist beschädigt: Der Encoder ergab Zahlen, die nicht endlich sind.</translation>
    </message>
    <message>
        <source>Give one number for each device.</source>
        <translation>Geben Sie für jedes Gerät eine Zahl an.</translation>
    </message>
    <message>
        <source>The tensor split has {parts} parts; the number of devices is {num_devices}.</source>
        <translation>Angegeben sind {parts} Anteile; die Zahl der Geräte ist {num_devices}.</translation>
    </message>
    <message>
        <source>On a GPU, rounding depends on how many tokens a pass has, so words may change with the mode.</source>
        <translation>Auf einer GPU hängt das Runden davon ab, wie viele Token ein Durchlauf hat. Wörter können sich daher mit dem Modus ändern.</translation>
    </message>
    <message>
        <source>With a cache of type {kind}, rounding depends on how many tokens a pass has, so words may change with the mode. Caches of f16 and q8_0 are exact.</source>
        <translation>Bei einem Cache vom Typ {kind} hängt das Runden davon ab, wie viele Token ein Durchlauf hat. Wörter können sich daher mit dem Modus ändern. Caches vom Typ f16 und q8_0 sind exakt.</translation>
    </message>
    <message>
        <source>With weights of type {kinds}, rounding depends on how many tokens a pass has, so words may change with the mode.</source>
        <translation>Bei Gewichten vom Typ {kinds} hängt das Runden davon ab, wie viele Token ein Durchlauf hat. Wörter können sich daher mit dem Modus ändern.</translation>
    </message>
    <message>
        <source>llama.cpp uses this processor&apos;s {names}, with which rounding depends on how many tokens a pass has, so words may change with the mode.</source>
        <translation>llama.cpp nutzt {names} dieses Prozessors. Damit hängt das Runden davon ab, wie viele Token ein Durchlauf hat. Wörter können sich daher mit dem Modus ändern.</translation>
    </message>
    <message>
        <source>The GPU has no room for all of it: {on_devices} of {every} layers lie there.</source>
        <translation>Die GPU hat nicht für alles Platz: {on_devices} von {every} Schichten liegen dort.</translation>
    </message>
    <message>
        <source>The GPU has no room for it, so it runs on the processor.</source>
        <translation>Die GPU hat dafür keinen Platz, daher läuft es auf dem Prozessor.</translation>
    </message>
    <message>
        <source>{mode} at draft length {depth}</source>
        <translation>{mode} mit Entwurfslänge {depth}</translation>
    </message>
    <message>
        <source>{mode} at the chosen draft length of {depth}</source>
        <translation>{mode} mit der gewählten Entwurfslänge {depth}</translation>
    </message>
    <message>
        <source>drafting is off</source>
        <translation>Entwürfe sind aus</translation>
    </message>
    <message>
        <source>draft paused, since it would not pay off: {share}</source>
        <translation>Entwurf pausiert, weil er sich nicht lohnen würde: {share}</translation>
    </message>
    <message>
        <source>draft on as chosen, but it does not pay off: {share}</source>
        <translation>Entwurf an wie gewählt, aber er lohnt sich nicht: {share}</translation>
    </message>
    <message>
        <source>it does not begin with the letters GGUF</source>
        <translation>sie beginnt nicht mit den Buchstaben GGUF</translation>
    </message>
    <message>
        <source>decoded again: {tokens} (about {decoding}); restoring {source} would take about {restoring}</source>
        <translation>neu berechnet: {tokens} (etwa {decoding}); {source} zurückzuholen, würde etwa {restoring} dauern</translation>
    </message>
    <message>
        <source>It leaves out some of the messages.</source>
        <translation>Einige der Nachrichten lässt sie weg.</translation>
    </message>
    <message>
        <source>{size} of its weights are missing (an incomplete download?)</source>
        <translation>von ihren Gewichten fehlen {size} (ein unvollständiger Download?)</translation>
    </message>
    <message>
        <source>The head has another vocabulary: it belongs to another model.</source>
        <translation>Der Kopf hat ein anderes Vokabular: Er gehört zu einem anderen Modell.</translation>
    </message>
    <message>
        <source>The GPU has no room for all of it. Layers with experts in main memory: {number}.</source>
        <translation>Die GPU hat nicht für alles Platz. Schichten, deren Experten im Arbeitsspeicher bleiben: {number}.</translation>
    </message>
    <message>
        <source>using repeated text (n-gram)</source>
        <translation>nutzt wiederholten Text (N-Gramm)</translation>
    </message>
    <message>
        <source>the draft is not used: it would slow this model down here; repeated text is used instead</source>
        <translation>das Entwurfsmodell wird nicht genutzt: Mit ihm wäre dieses Modell hier langsamer; stattdessen wird wiederholter Text genutzt</translation>
    </message>
    <message>
        <source>repeated text paused, since it would not pay off</source>
        <translation>wiederholter Text pausiert, weil er sich nicht lohnen würde</translation>
    </message>
    <message>
        <source>draft paused, since it would not pay off</source>
        <translation>Entwurf pausiert, weil er sich nicht lohnen würde</translation>
    </message>
    <message>
        <source>Send the message again.</source>
        <translation>Senden Sie die Nachricht noch einmal.</translation>
    </message>
    <message>
        <source>{name} does not see: it has no encoder for pictures.</source>
        <translation>{name} sieht nicht: Die Datei hat keinen Encoder für Bilder.</translation>
    </message>
    <message>
        <source>{name} is damaged: its {key} is {number}.</source>
        <translation>{name} ist beschädigt: {key} ist {number}.</translation>
    </message>
    <message>
        <source>not given</source>
        <translation>nicht angegeben</translation>
    </message>
    <message>
        <source>The engine ended unexpectedly ({reason}).</source>
        <translation>Die Engine wurde unerwartet beendet ({reason}).</translation>
    </message>
    <message>
        <source>it could not be started: {reason}</source>
        <translation>sie konnte nicht gestartet werden: {reason}</translation>
    </message>
    <message>
        <source>Cut it into parts.</source>
        <translation>Teilen Sie sie auf.</translation>
    </message>
    <message>
        <source>Choose another embedding model if it happens again.</source>
        <translation>Wählen Sie ein anderes Embedding-Modell, wenn es wieder geschieht.</translation>
    </message>
    <message>
        <source>Input {number} has no tokens.</source>
        <translation>Eingabe {number} hat keine Token.</translation>
    </message>
    <message>
        <source>signal {name}</source>
        <translation>Signal {name}</translation>
    </message>
    <message>
        <source>status {status}</source>
        <translation>Status {status}</translation>
    </message>
    <message>
        <source>The chat template of this model leaves out the text of messages.</source>
        <translation>Die Chat-Vorlage dieses Modells lässt den Text der Nachrichten weg.</translation>
    </message>
    <message>
        <source>Use another file of this model, or one with another template.</source>
        <translation>Nehmen Sie eine andere Datei dieses Modells oder eine mit anderer Vorlage.</translation>
    </message>
    <message>
        <source>This model&apos;s file names no tokens for filling in the middle.</source>
        <translation>Die Datei dieses Modells nennt keine Token zum Füllen einer Lücke.</translation>
    </message>
    <message>
        <source>Leave out the suffix, or choose a code model.</source>
        <translation>Lassen Sie das Ende weg oder wählen Sie ein Modell für Code.</translation>
    </message>
    <message>
        <source>its chat template writes calls in a form that is not known here</source>
        <translation>seine Chat-Vorlage schreibt Aufrufe in einer hier unbekannten Form</translation>
    </message>
    <message>
        <source>its chat template fails with tools: {reason}</source>
        <translation>seine Chat-Vorlage scheitert mit Werkzeugen: {reason}</translation>
    </message>
    <message>
        <source>Choose another model for tools.</source>
        <translation>Wählen Sie für Werkzeuge ein anderes Modell.</translation>
    </message>
    <message>
        <source>The chat template of this model leaves the tools out.</source>
        <translation>Die Chat-Vorlage dieses Modells lässt die Werkzeuge weg.</translation>
    </message>
    <message>
        <source>The prompt has more than {most:,} tokens, but the context holds {n_ctx:,}.</source>
        <translation>Die Eingabe hat mehr als {most:,} Token, aber der Kontext fasst {n_ctx:,}.</translation>
    </message>
    <message>
        <source>Shorten it, or have the model loaded with a larger context.</source>
        <translation>Kürzen Sie sie, oder lassen Sie das Modell mit einem größeren Kontext laden.</translation>
    </message>
    <message>
        <source>The loaded model cannot see pictures: no side file (mmproj) is loaded with it.</source>
        <translation>Das geladene Modell kann keine Bilder sehen: Keine Nebendatei (mmproj) ist mit ihm geladen.</translation>
    </message>
    <message>
        <source>Leave some out.</source>
        <translation>Lassen Sie einige weg.</translation>
    </message>
    <message>
        <source>Choose another model for pictures.</source>
        <translation>Wählen Sie für Bilder ein anderes Modell.</translation>
    </message>
    <message>
        <source>Nothing follows the picture.</source>
        <translation>Auf das Bild folgt nichts.</translation>
    </message>
    <message>
        <source>The conversation has {count} pictures; at most {most} are read.</source>
        <translation>Die Unterhaltung hat {count} Bilder; höchstens {most} werden gelesen.</translation>
    </message>
    <message>
        <source>{path} is damaged: its head gave numbers that are not finite.</source>
        <translation>{path} ist beschädigt: Sein Kopf lieferte Zahlen, die nicht endlich sind.</translation>
    </message>
    <message>
        <source>The fast kernels of this build of llama.cpp fail on this processor, so slower ones are used. A newer version of Paceline may bring others.</source>
        <translation>Die schnellen Kernel dieses Builds von llama.cpp versagen auf diesem Prozessor, deshalb werden langsamere benutzt. Eine neuere Version von Paceline bringt vielleicht andere mit.</translation>
    </message>
    <message>
        <source>Make it smaller.</source>
        <translation>Verkleinern Sie es.</translation>
    </message>
    <message>
        <source>Cut out the part that matters.</source>
        <translation>Schneiden Sie den wichtigen Teil aus.</translation>
    </message>
    <message>
        <source>Save it as PNG or JPEG, and give that.</source>
        <translation>Speichern Sie es als PNG oder JPEG, und geben Sie das an.</translation>
    </message>
    <message>
        <source>“{name}” is damaged: its pixels cannot be read.</source>
        <translation>„{name}“ ist beschädigt: Die Pixel lassen sich nicht lesen.</translation>
    </message>
    <message>
        <source>“{name}” has more than {limit} MB.</source>
        <translation>„{name}“ hat mehr als {limit} MB.</translation>
    </message>
    <message>
        <source>“{name}” has {width} x {height} pixels, more than {limit} million in all.</source>
        <translation>„{name}“ hat {width} x {height} Pixel, insgesamt mehr als {limit} Millionen.</translation>
    </message>
    <message>
        <source>“{name}” is more than {limit} times as long as it is wide.</source>
        <translation>„{name}“ ist mehr als {limit}-mal so lang wie breit.</translation>
    </message>
    <message>
        <source>Reading “{name}” takes more memory than a picture should.</source>
        <translation>„{name}“ zu lesen braucht mehr Arbeitsspeicher, als ein Bild sollte.</translation>
    </message>
    <message>
        <source>The system ended the process that opened {name}, perhaps because memory ran out.</source>
        <translation>Das System hat den Prozess beendet, der {name} geöffnet hat, vielleicht weil der Speicher nicht reichte.</translation>
    </message>
    <message>
        <source>{path} has no tokens for ordinary text, so no prompt would reach it.</source>
        <translation>{path} hat keine Token für gewöhnlichen Text, also käme keine Eingabe bei ihr an.</translation>
    </message>
    <message>
        <source>{path} is damaged: its first passes gave numbers that are not finite.</source>
        <translation>{path} ist beschädigt: Die ersten Durchläufe ergaben Zahlen, die nicht endlich sind.</translation>
    </message>
    <message>
        <source>Ask again.</source>
        <translation>Fragen Sie noch einmal.</translation>
    </message>
    <message>
        <source>The answer was stopped.</source>
        <translation>Die Antwort wurde gestoppt.</translation>
    </message>
    <message>
        <source>This model has no next-token layers (MTP), and no file with a head for it is chosen.</source>
        <translation>Dieses Modell hat keine MTP-Schichten, und es ist keine Datei mit einem Kopf dafür gewählt.</translation>
    </message>
    <message>
        <source>The model&apos;s own heads cannot be used: {reason}</source>
        <translation>Die eigenen Köpfe des Modells sind nicht benutzbar: {reason}</translation>
    </message>
    <message>
        <source>it cannot see pictures</source>
        <translation>es kann keine Bilder sehen</translation>
    </message>
    <message>
        <source>Leave it out, or close other programs.</source>
        <translation>Lassen Sie sie weg, oder schließen Sie andere Programme.</translation>
    </message>
    <message>
        <source>{name} needs about {size} MB, which are not free.</source>
        <translation>{name} braucht etwa {size} MB, die nicht frei sind.</translation>
    </message>
    <message>
        <source>threads from {before} to {threads}: {why}</source>
        <translation>Threads von {before} auf {threads}: {why}</translation>
    </message>
    <message>
        <source>the cores are free again</source>
        <translation>Die Kerne sind wieder frei</translation>
    </message>
    <message>
        <source>that is faster here</source>
        <translation>Das ist hier schneller</translation>
    </message>
    <message>
        <source>another program uses the cores</source>
        <translation>Ein anderes Programm benutzt die Kerne</translation>
    </message>
    <message>
        <source>it does not say which architecture it has</source>
        <translation>sie sagt nicht, welche Architektur sie hat</translation>
    </message>
    <message>
        <source>its architecture is called {architecture!r}</source>
        <translation>ihre Architektur heißt {architecture!r}</translation>
    </message>
    <message>
        <source>it contains no weights, only a vocabulary or metadata</source>
        <translation>sie enthält keine Gewichte, nur ein Vokabular oder Metadaten</translation>
    </message>
    <message>
        <source>it has no vocabulary</source>
        <translation>sie hat kein Vokabular</translation>
    </message>
    <message>
        <source>its vocabulary has {num_tokens:,} tokens</source>
        <translation>ihr Vokabular hat {num_tokens:,} Token</translation>
    </message>
    <message>
        <source>one of its tokens is {longest:,} bytes long</source>
        <translation>eines ihrer Token ist {longest:,} Bytes lang</translation>
    </message>
    <message>
        <source>its {key} is not a whole number</source>
        <translation>{key} ist darin keine ganze Zahl</translation>
    </message>
    <message>
        <source>it has no attention heads</source>
        <translation>sie hat keine Attention-Köpfe</translation>
    </message>
    <message>
        <source>it uses {used} of {all_of_them} experts</source>
        <translation>sie benutzt {used} von {all_of_them} Experten</translation>
    </message>
    <message>
        <source>it uses none of its experts ({all_of_them})</source>
        <translation>sie benutzt keinen ihrer Experten ({all_of_them})</translation>
    </message>
    <message>
        <source>the number of its blocks should be {claimed:,} and is {found:,}</source>
        <translation>die Zahl ihrer Blöcke sollte {claimed:,} sein und ist {found:,}</translation>
    </message>
    <message>
        <source>the number of its tokens is {num_tokens:,}, but that of the entries in {key} is {length:,}</source>
        <translation>die Zahl ihrer Token ist {num_tokens:,}, die der Einträge in {key} aber {length:,}</translation>
    </message>
    <message>
        <source>the number of its attention heads, {heads}, is not a multiple of that of its key and value heads, {kv_heads}</source>
        <translation>die Zahl ihrer Attention-Köpfe, {heads}, ist kein Vielfaches der Zahl ihrer Schlüssel- und Wertköpfe, {kv_heads}</translation>
    </message>
    <message>
        <source>its {key} has the wrong type</source>
        <translation>{key} hat darin den falschen Typ</translation>
    </message>
    <message>
        <source>its {name} is not a finite number</source>
        <translation>{name} ist darin keine endliche Zahl</translation>
    </message>
    <message>
        <source>its rope.dimension_count is {number}, an odd number</source>
        <translation>rope.dimension_count ist darin {number}, eine ungerade Zahl</translation>
    </message>
    <message>
        <source>its {key} is {number:,}</source>
        <translation>{key} ist darin {number:,}</translation>
    </message>
    <message>
        <source>token {token_id} should name a byte, but is {texts!r}</source>
        <translation>Token {token_id} sollte ein Byte benennen, ist aber {texts!r}</translation>
    </message>
    <message>
        <source>its {key} is {own}</source>
        <translation>{key} ist darin {own}</translation>
    </message>
    <message>
        <source>The kernels for this processor give wrong numbers.</source>
        <translation>Die Kernel für diesen Prozessor liefern falsche Zahlen.</translation>
    </message>
    <message>
        <source>Start a new chat, or choose a larger context in the settings.</source>
        <translation>Beginnen Sie einen neuen Chat, oder wählen Sie in den Einstellungen einen größeren Kontext.</translation>
    </message>
    <message>
        <source>llama.cpp could not compute a pass (code {code}): {reason}.</source>
        <translation>llama.cpp konnte einen Durchlauf nicht rechnen (Code {code}): {reason}.</translation>
    </message>
    <message>
        <source>A context of {n_ctx:,} tokens for {path} could not be made: {reason}.</source>
        <translation>Ein Kontext von {n_ctx:,} Token für {path} konnte nicht angelegt werden: {reason}.</translation>
    </message>
    <message>
        <source>The context of {n_ctx:,} tokens is full.</source>
        <translation>Der Kontext von {n_ctx:,} Token ist voll.</translation>
    </message>
    <message>
        <source>no reason was given</source>
        <translation>ein Grund wurde nicht genannt</translation>
    </message>
    <message>
        <source>Load it again if you need it.</source>
        <translation>Laden Sie es bei Bedarf erneut.</translation>
    </message>
    <message>
        <source>llama.cpp is not the one that Paceline was installed with: {names} came from another folder, by a variable such as LD_LIBRARY_PATH. Speed and answers are those of that build.</source>
        <translation>llama.cpp ist nicht die Fassung, mit der Paceline installiert wurde: {names} kamen aus einem anderen Ordner, durch eine Variable wie LD_LIBRARY_PATH. Tempo und Antworten sind die jenes Builds.</translation>
    </message>
    <message>
        <source>llama.cpp refused {path}: {reason}.</source>
        <translation>llama.cpp hat {path} abgelehnt: {reason}.</translation>
    </message>
    <message>
        <source>There is no file at {path}.</source>
        <translation>Unter {path} gibt es keine Datei.</translation>
    </message>
    <message>
        <source>Loading {path} was cancelled.</source>
        <translation>Das Laden von {path} wurde abgebrochen.</translation>
    </message>
    <message>
        <source>The text could not be split into tokens: the tokenizer of this model failed.</source>
        <translation>Der Text konnte nicht in Token zerlegt werden: Der Tokenizer dieses Modells ist fehlgeschlagen.</translation>
    </message>
    <message>
        <source>Flash attention is on, since a cache of type {kinds} needs it.</source>
        <translation>Flash Attention ist an, weil ein Cache der Art {kinds} sie braucht.</translation>
    </message>
    <message>
        <source>{path} fits neither GPU nor main memory.</source>
        <translation>{path} passt weder in die GPU noch in den Arbeitsspeicher.</translation>
    </message>
    <message>
        <source>{path} is a {architecture} model, which does not write text.</source>
        <translation>{path} ist ein {architecture}-Modell, das keinen Text schreibt.</translation>
    </message>
    <message>
        <source>Choose a GGUF file of a chat or text model.</source>
        <translation>Wählen Sie eine GGUF-Datei eines Chat- oder Textmodells.</translation>
    </message>
    <message>
        <source>a part of a speech model</source>
        <translation>ein Teil eines Sprachausgabemodells</translation>
    </message>
    <message>
        <source>a text encoder ({architecture}): it turns texts into numbers, for searching</source>
        <translation>ein Text-Encoder ({architecture}): Er macht aus Texten Zahlen, zum Suchen</translation>
    </message>
    <message>
        <source>{name} is {reason}, and does not write text.</source>
        <translation>{name} ist {reason} und schreibt keinen Text.</translation>
    </message>
    <message>
        <source>Reinstall llama-cpp-python on this computer.</source>
        <translation>Installieren Sie llama-cpp-python auf diesem Rechner neu.</translation>
    </message>
    <message>
        <source>If it lies on a slow drive, copy it to this computer; otherwise choose another file.</source>
        <translation>Liegt sie auf einem langsamen Laufwerk, kopieren Sie sie auf diesen Rechner; sonst wählen Sie eine andere Datei.</translation>
    </message>
    <message>
        <source>Open it again if you need it.</source>
        <translation>Öffnen Sie es bei Bedarf erneut.</translation>
    </message>
    <message>
        <source>Choose another file of this model, or a newer version of Paceline.</source>
        <translation>Wählen Sie eine andere Datei dieses Modells oder eine neuere Version von Paceline.</translation>
    </message>
    <message>
        <source>llama.cpp crashed when it opened {name} ({detail}).</source>
        <translation>llama.cpp ist beim Öffnen von {name} abgestürzt ({detail}).</translation>
    </message>
    <message>
        <source>{name} could not be opened: llama.cpp was built for another processor.</source>
        <translation>{name} konnte nicht geöffnet werden: llama.cpp wurde für einen anderen Prozessor gebaut.</translation>
    </message>
    <message>
        <source>{name} could not be opened: {last_line}.</source>
        <translation>{name} konnte nicht geöffnet werden: {last_line}.</translation>
    </message>
    <message>
        <source>{name} asks for more memory than a file of its size can need.</source>
        <translation>{name} verlangt mehr Speicher, als eine Datei dieser Größe brauchen kann.</translation>
    </message>
    <message>
        <source>The process that opened {name} ended without an answer.</source>
        <translation>Der Prozess, der {name} öffnete, endete ohne eine Antwort.</translation>
    </message>
    <message>
        <source>{name} could not be opened within {limit_s:.0f} seconds.</source>
        <translation>{name} konnte nicht innerhalb von {limit_s:.0f} Sekunden geöffnet werden.</translation>
    </message>
    <message>
        <source>Opening {name} was cancelled.</source>
        <translation>Das Öffnen von {name} wurde abgebrochen.</translation>
    </message>
    <message>
        <source>There is no message to answer.</source>
        <translation>Es gibt keine Nachricht zu beantworten.</translation>
    </message>
    <message>
        <source>The model computed values that are not numbers.</source>
        <translation>Das Modell hat Werte berechnet, die keine Zahlen sind.</translation>
    </message>
    <message>
        <source>The file is probably damaged: download it again, or choose another one.</source>
        <translation>Die Datei ist wahrscheinlich beschädigt: Laden Sie sie erneut herunter, oder wählen Sie eine andere.</translation>
    </message>
    <message>
        <source>passes made together with those of other answers: {joined} of {number}</source>
        <translation>Durchläufe zusammen mit denen anderer Antworten: {joined} von {number}</translation>
    </message>
    <message>
        <source>oldest messages left out: {number} (the context holds {n_ctx:,} tokens)</source>
        <translation>weggelassene älteste Nachrichten: {number} (der Kontext fasst {n_ctx:,} Token)</translation>
    </message>
    <message>
        <source>questions without an answer left out: {number}</source>
        <translation>weggelassene Fragen ohne Antwort: {number}</translation>
    </message>
    <message>
        <source>No model is loaded.</source>
        <translation>Es ist kein Modell geladen.</translation>
    </message>
    <message>
        <source>Open a model first.</source>
        <translation>Öffnen Sie zuerst ein Modell.</translation>
    </message>
    <message>
        <source>No draft model is chosen.</source>
        <translation>Es ist kein Entwurfsmodell gewählt.</translation>
    </message>
    <message>
        <source>The model&apos;s memory could not forget the rejected tokens.</source>
        <translation>Der Speicher des Modells konnte die abgelehnten Token nicht vergessen.</translation>
    </message>
    <message>
        <source>oldest messages sent as a summary: {number}</source>
        <translation>als Zusammenfassung gesendete älteste Nachrichten: {number}</translation>
    </message>
    <message>
        <source>The summary was cancelled.</source>
        <translation>Die Zusammenfassung wurde abgebrochen.</translation>
    </message>
    <message>
        <source>The model wrote no summary.</source>
        <translation>Das Modell hat keine Zusammenfassung geschrieben.</translation>
    </message>
    <message>
        <source>The oldest messages are too long to be summarised.</source>
        <translation>Die ältesten Nachrichten sind zu lang, um zusammengefasst zu werden.</translation>
    </message>
    <message>
        <source>The conversation is longer than any context holds.</source>
        <translation>Die Unterhaltung ist länger, als irgendein Kontext fasst.</translation>
    </message>
    <message>
        <source>The head&apos;s file does not give the attention windows of its layers.</source>
        <translation>Die Datei des Kopfes nennt die Attention-Fenster seiner Schichten nicht.</translation>
    </message>
    <message>
        <source>Check its path, or leave it out.</source>
        <translation>Prüfen Sie den Pfad, oder lassen Sie es weg.</translation>
    </message>
    <message>
        <source>Choose an export of Paceline or LM Studio, or the zip that ChatGPT sends.</source>
        <translation>Wählen Sie einen Export von Paceline oder LM Studio oder die ZIP-Datei von ChatGPT.</translation>
    </message>
    <message>
        <source>The link leads to something of {host} that is no GGUF file.</source>
        <translation>Der Link führt zu etwas von {host}, das keine GGUF-Datei ist.</translation>
    </message>
    <message>
        <source>it does not say its {key}</source>
        <translation>sie nennt ihr {key} nicht</translation>
    </message>
    <message>
        <source>The head drafts blocks of {size} tokens, which is not a valid size.</source>
        <translation>Der Kopf entwirft Blöcke von {size} Token; diese Größe ist ungültig.</translation>
    </message>
    <message>
        <source>{method} heads read the target&apos;s layers, and llama.cpp does not provide those of {architecture} models.</source>
        <translation>{method}-Köpfe lesen die Schichten des Zielmodells, und llama.cpp gibt die von {architecture}-Modellen nicht aus.</translation>
    </message>
    <message>
        <source>The head cannot discard its rejected drafts.</source>
        <translation>Der Kopf kann abgelehnte Entwürfe nicht verwerfen.</translation>
    </message>
    <message>
        <source>Close other programs that use its memory, and start Paceline again.</source>
        <translation>Schließen Sie andere Programme, die seinen Speicher benutzen, und starten Sie Paceline neu.</translation>
    </message>
    <message>
        <source>The device {name} is not used: the GPU of this computer failed a test.</source>
        <translation>Das Gerät {name} wird nicht benutzt: Die GPU dieses Rechners hat einen Test nicht bestanden.</translation>
    </message>
    <message>
        <source>There is no device {name}: llama.cpp finds none besides the processor.</source>
        <translation>Es gibt kein Gerät {name}: llama.cpp findet außer dem Prozessor keines.</translation>
    </message>
    <message>
        <source>llama.cpp gave no hidden states of the head.</source>
        <translation>llama.cpp gab keine inneren Zustände des Kopfes aus.</translation>
    </message>
    <message>
        <source>Install llama-cpp-python again; “make run” builds all of it.</source>
        <translation>Installieren Sie llama-cpp-python neu; „make run“ baut es vollständig.</translation>
    </message>
    <message>
        <source>{path} belongs to another model: it puts pictures between markers that this model does not know.</source>
        <translation>{path} gehört zu einem anderen Modell: Die Datei setzt Bilder zwischen Marken, die dieses Modell nicht kennt.</translation>
    </message>
    <message>
        <source>The picture takes {places} positions, and this model has to see them all at once: at most {most}.</source>
        <translation>Das Bild belegt {places} Positionen, und dieses Modell muss alle auf einmal sehen: höchstens {most}.</translation>
    </message>
    <message>
        <source>The draft length must be between 0 and {most}.</source>
        <translation>Die Entwurfslänge muss zwischen 0 und {most} liegen.</translation>
    </message>
    <message>
        <source>{mode}: drafts when it saves time here</source>
        <translation>{mode}: entwirft, wenn es hier Zeit spart</translation>
    </message>
    <message>
        <source>A picture of this conversation is no longer available.</source>
        <translation>Ein Bild dieser Unterhaltung ist nicht mehr vorhanden.</translation>
    </message>
    <message>
        <source>Choose another model that sees pictures.</source>
        <translation>Wählen Sie ein anderes Modell, das Bilder sehen kann.</translation>
    </message>
    <message>
        <source>{name} is not a side file (mmproj): its architecture is {architecture}, not clip.</source>
        <translation>{name} ist keine Nebendatei (mmproj): Die Architektur ist {architecture}, nicht clip.</translation>
    </message>
    <message>
        <source>{name} is of a kind that is not supported ({projector}).</source>
        <translation>{name} ist von einer Art, die nicht unterstützt wird ({projector}).</translation>
    </message>
    <message>
        <source>{name} belongs to another model: it is for {family}, and this one is {architecture}.</source>
        <translation>{name} gehört zu einem anderen Modell: Die Datei ist für {family}, und dieses ist {architecture}.</translation>
    </message>
    <message>
        <source>{name} belongs to another model: it gives {width} numbers per position, this model takes {wanted}.</source>
        <translation>{name} gehört zu einem anderen Modell: Die Datei ergibt {width} Zahlen pro Position, und dieses nimmt {wanted}.</translation>
    </message>
    <message>
        <source>The process that ran {name} ended without an answer.</source>
        <translation>Der Prozess, der {name} ausführte, endete ohne Antwort.</translation>
    </message>
    <message>
        <source>A message has the role {role!r}; known roles are {names}.</source>
        <translation>Eine Nachricht hat die Rolle {role!r}; bekannt sind {names}.</translation>
    </message>
    <message>
        <source>Change the last message, or choose another model.</source>
        <translation>Ändern Sie die letzte Nachricht, oder wählen Sie ein anderes Modell.</translation>
    </message>
    <message>
        <source>Start a new chat, or choose another model.</source>
        <translation>Beginnen Sie einen neuen Chat oder wählen Sie ein anderes Modell.</translation>
    </message>
    <message>
        <source>Give its side file with --mmproj, choose a model that sees pictures, or leave them out.</source>
        <translation>Geben Sie seine Nebendatei mit --mmproj an, wählen Sie ein Modell, das Bilder sehen kann, oder lassen Sie sie weg.</translation>
    </message>
    <message>
        <source>The chat template of this model does not write every picture exactly once.</source>
        <translation>Die Chat-Vorlage dieses Modells schreibt nicht jedes Bild genau einmal.</translation>
    </message>
    <message>
        <source>Write something after it.</source>
        <translation>Schreiben Sie etwas dahinter.</translation>
    </message>
    <message>
        <source>No token of this model can continue as the grammar requires.</source>
        <translation>Kein Token dieses Modells kann so fortsetzen, wie es die Grammatik verlangt.</translation>
    </message>
    <message>
        <source>{name} needs more memory than is allowed.</source>
        <translation>{name} braucht mehr Speicher, als erlaubt ist.</translation>
    </message>
    <message>
        <source>The fast kernels of this build of llama.cpp fail on this processor, so slower ones are used. “make run” compiles it again; README names other ways.</source>
        <translation>Die schnellen Kernel dieses Builds von llama.cpp versagen auf diesem Prozessor, deshalb werden langsamere benutzt. „make run“ kompiliert es neu; andere Wege stehen in README.</translation>
    </message>
    <message>
        <source>Flash attention or sampling fails on this GPU or its driver, so both are off there, and the cache is f16. A newer driver may help.</source>
        <translation>Flash Attention oder das Sampling versagt auf dieser GPU oder mit ihrem Treiber; dort ist daher beides aus und der Cache f16. Ein neuerer Treiber kann helfen.</translation>
    </message>
    <message>
        <source>The GPU failed a test with a small model, so models run on the processor. A newer driver may help.</source>
        <translation>Die GPU hat einen Test mit einem kleinen Modell nicht bestanden, daher laufen Modelle auf dem Prozessor. Ein neuerer Treiber kann helfen.</translation>
    </message>
    <message>
        <source>The GPU could not be tried with a small model: its memory may be full, or it did not answer in time. So models run on the processor. Close other programs that use it, and start Paceline again.</source>
        <translation>Die GPU konnte nicht mit einem kleinen Modell geprüft werden: Vielleicht ist ihr Speicher voll, oder sie hat nicht rechtzeitig geantwortet. Deshalb laufen Modelle auf dem Prozessor. Schließen Sie andere Programme, die sie benutzen, und starten Sie Paceline neu.</translation>
    </message>
    <message>
        <source>“{name}” is not a PNG, JPEG, WebP or GIF picture.</source>
        <translation>„{name}“ ist kein Bild in PNG, JPEG, WebP oder GIF.</translation>
    </message>
    <message>
        <source>Start a new chat.</source>
        <translation>Beginnen Sie einen neuen Chat.</translation>
    </message>
    <message>
        <source>Try again; if it happens again, reinstall Paceline.</source>
        <translation>Versuchen Sie es erneut; geschieht es wieder, installieren Sie Paceline neu.</translation>
    </message>
    <message>
        <source>The helper that renders chat templates did not start: {reason}.</source>
        <translation>Das Hilfsprogramm für Chat-Vorlagen ist nicht gestartet: {reason}.</translation>
    </message>
    <message>
        <source>it needed too much memory</source>
        <translation>es brauchte zu viel Speicher</translation>
    </message>
    <message>
        <source>The model&apos;s chat template was stopped: {reason}.</source>
        <translation>Die Chat-Vorlage des Modells wurde gestoppt: {reason}.</translation>
    </message>
    <message>
        <source>it did not finish within {limit_s:.0f} seconds</source>
        <translation>es wurde nicht innerhalb von {limit_s:.0f} Sekunden fertig</translation>
    </message>
    <message>
        <source>it ended at once</source>
        <translation>es endete sofort</translation>
    </message>
    <message>
        <source>it crashed</source>
        <translation>es ist abgestürzt</translation>
    </message>
    <message>
        <source>llama.cpp gives no hidden states of {architecture} models.</source>
        <translation>llama.cpp gibt die inneren Zustände von {architecture}-Modellen nicht aus.</translation>
    </message>
    <message>
        <source>{path} is damaged: after a picture the numbers are not finite.</source>
        <translation>{path} ist beschädigt: Nach einem Bild sind die Zahlen nicht endlich.</translation>
    </message>
    <message>
        <source>The memory of {name} ({architecture}) can neither drop rejected tokens nor return to an earlier state.</source>
        <translation>Der Speicher von {name} ({architecture}) kann abgelehnte Token nicht entfernen und auch nicht zu einem früheren Stand zurückkehren.</translation>
    </message>
    <message>
        <source>The chosen draft model drafts instead of the head; choose none to use the head.</source>
        <translation>Das gewählte Entwurfsmodell entwirft anstelle des Kopfes; wählen Sie keines, um den Kopf zu benutzen.</translation>
    </message>
    <message>
        <source>A head drafts for this model; choose a draft model to use this mode.</source>
        <translation>Für dieses Modell entwirft ein Kopf; wählen Sie ein Entwurfsmodell, um diesen Modus zu benutzen.</translation>
    </message>
    <message>
        <source>The memory of this model ({architecture}) can neither drop rejected tokens nor return to an earlier state, so it runs without drafting.</source>
        <translation>Der Speicher dieses Modells ({architecture}) kann abgelehnte Token nicht entfernen und auch nicht zu einem früheren Stand zurückkehren; daher läuft es ohne Entwürfe.</translation>
    </message>
    <message>
        <source>It drafts for one answer at a time, and another is being written.</source>
        <translation>Es entwirft nur für eine Antwort auf einmal, und gerade wird eine andere geschrieben.</translation>
    </message>
    <message>
        <source>without drafting: {reason}</source>
        <translation>ohne Entwürfe: {reason}</translation>
    </message>
    <message>
        <source>The messages use every private character of Unicode, so none is left to mark them.</source>
        <translation>Die Nachrichten verwenden jedes private Zeichen von Unicode, sodass keines bleibt, um sie zu markieren.</translation>
    </message>
    <message>
        <source>draft left out: {reason}</source>
        <translation>Entwurfsmodell ausgelassen: {reason}</translation>
    </message>
    <message>
        <source>Something went wrong in the engine</source>
        <translation>In der Engine ist etwas schiefgegangen</translation>
    </message>
    <message>
        <source>An unexpected error stopped this step; the log has the details.</source>
        <translation>Ein unerwarteter Fehler hat diesen Schritt beendet; Einzelheiten stehen im Protokoll.</translation>
    </message>
    <message>
        <source>This setting cannot be used</source>
        <translation>Diese Einstellung ist nicht verwendbar</translation>
    </message>
    <message>
        <source>Change it.</source>
        <translation>Ändern Sie sie.</translation>
    </message>
    <message>
        <source>An unexpected error ({name}) was written to the log in {logs}.</source>
        <translation>Ein unerwarteter Fehler ({name}) steht im Protokoll in {logs}.</translation>
    </message>
    <message>
        <source>The key in {file} cannot be used, or other users may read it.</source>
        <translation>Der Schlüssel in {file} ist nicht brauchbar, oder andere Benutzer können ihn lesen.</translation>
    </message>
    <message>
        <source>The local server could not start</source>
        <translation>Der lokale Server konnte nicht starten</translation>
    </message>
    <message>
        <source>Your text is safe; the model is loaded again.</source>
        <translation>Ihr Text ist sicher; das Modell ist wieder geladen.</translation>
    </message>
    <message>
        <source>Your text is safe. The engine ended twice with this model, so it is not loaded again.</source>
        <translation>Ihr Text ist sicher. Die Engine endete mit diesem Modell zweimal, deshalb wird es nicht neu geladen.</translation>
    </message>
    <message>
        <source>Your text is safe. Choose a model to continue.</source>
        <translation>Ihr Text ist sicher. Wählen Sie ein Modell, um fortzufahren.</translation>
    </message>
    <message>
        <source>{percent:.0f}% of its first tokens are accepted</source>
        <translation>{percent:.0f}&#xa0;% seiner ersten Token werden akzeptiert</translation>
    </message>
    <message>
        <source>Restart Paceline.</source>
        <translation>Starten Sie Paceline neu.</translation>
    </message>
    <message>
        <source>Copy it again, without anything around it. Nothing was sent.</source>
        <translation>Kopieren Sie ihn noch einmal, ohne etwas darum herum. Es wurde nichts gesendet.</translation>
    </message>
    <message>
        <source>The {lanes} lanes need about {needed:.1f} GB together; {free:.1f} GB are free.</source>
        <translation>Die {lanes} Bahnen brauchen zusammen etwa {needed:.1f} GB; {free:.1f} GB sind frei.</translation>
    </message>
    <message>
        <source>The connection ended too early.</source>
        <translation>Die Verbindung endete zu früh.</translation>
    </message>
    <message>
        <source>This link cannot be used</source>
        <translation>Dieser Link ist nicht verwendbar</translation>
    </message>
    <message>
        <source>Check the link.</source>
        <translation>Prüfen Sie den Link.</translation>
    </message>
    <message>
        <source>The server&apos;s answer could not be understood</source>
        <translation>Die Antwort des Servers war nicht zu verstehen</translation>
    </message>
    <message>
        <source>Choose a folder that you may read.</source>
        <translation>Wählen Sie einen Ordner, den Sie lesen dürfen.</translation>
    </message>
    <message>
        <source>{folder} cannot be read: {reason}.</source>
        <translation>{folder} kann nicht gelesen werden: {reason}.</translation>
    </message>
    <message>
        <source>Use the https address. Plain http is for this computer only.</source>
        <translation>Verwenden Sie die https-Adresse. Einfaches http gilt nur für diesen Rechner.</translation>
    </message>
    <message>
        <source>The server sent the file compressed, although it was asked not to.</source>
        <translation>Der Server hat die Datei komprimiert gesendet, obwohl er darum gebeten war, es nicht zu tun.</translation>
    </message>
    <message>
        <source>Copy the link of the file itself; it begins with https:// and names no user.</source>
        <translation>Kopieren Sie den Link der Datei selbst; er beginnt mit https:// und nennt keinen Benutzer.</translation>
    </message>
    <message>
        <source>Give the link of the first part; the others are fetched with it.</source>
        <translation>Geben Sie den Link des ersten Teils an; die anderen werden mitgeladen.</translation>
    </message>
    <message>
        <source>The server sent different bytes than requested.</source>
        <translation>Der Server hat andere Bytes gesendet als verlangt.</translation>
    </message>
    <message>
        <source>Copy the link of the download itself, not of the page around it.</source>
        <translation>Kopieren Sie den Link des Downloads selbst, nicht der Seite darum herum.</translation>
    </message>
    <message>
        <source>Look for another place that has it.</source>
        <translation>Suchen Sie sie an anderer Stelle.</translation>
    </message>
    <message>
        <source>The proxy that this system names cannot be used.</source>
        <translation>Der Proxy, den dieses System nennt, ist nicht verwendbar.</translation>
    </message>
    <message>
        <source>{host} redirects without end.</source>
        <translation>{host} leitet ohne Ende weiter.</translation>
    </message>
    <message>
        <source>{host} redirects to {target}, which lies in your own network.</source>
        <translation>{host} leitet zu {target} weiter, das in Ihrem eigenen Netzwerk liegt.</translation>
    </message>
    <message>
        <source>{host} redirects to an unencrypted address.</source>
        <translation>{host} leitet zu einer unverschlüsselten Adresse weiter.</translation>
    </message>
    <message>
        <source>{address} is not an https address.</source>
        <translation>{address} ist keine https-Adresse.</translation>
    </message>
    <message>
        <source>{name} is part {number} of {total}.</source>
        <translation>{name} ist Teil {number} von {total}.</translation>
    </message>
    <message>
        <source>{host} did not answer in time.</source>
        <translation>{host} hat nicht rechtzeitig geantwortet.</translation>
    </message>
    <message>
        <source>Could not connect to {host}.</source>
        <translation>Keine Verbindung zu {host}.</translation>
    </message>
    <message>
        <source>The connection to {host} was lost.</source>
        <translation>Die Verbindung zu {host} ist abgebrochen.</translation>
    </message>
    <message>
        <source>The answer of {host} could not be read.</source>
        <translation>Die Antwort von {host} war nicht lesbar.</translation>
    </message>
    <message>
        <source>{host} does not say how long the file is, so it is not downloaded.</source>
        <translation>{host} sagt nicht, wie lang die Datei ist; deshalb wird sie nicht geladen.</translation>
    </message>
    <message>
        <source>{host} shows a certificate that is not trusted here.</source>
        <translation>{host} zeigt ein Zertifikat, dem hier nicht vertraut wird.</translation>
    </message>
    <message>
        <source>{name} is missing.</source>
        <translation>{name} fehlt.</translation>
    </message>
    <message>
        <source>It is at {parent}.</source>
        <translation>Er liegt unter {parent}.</translation>
    </message>
</context>
<context>
    <name>ProjectPage</name>
    <message numerus="yes">
        <source>%Ln files</source>
        <translation>
            <numerusform>%Ln Datei</numerusform>
            <numerusform>%Ln Dateien</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln passages</source>
        <translation>
            <numerusform>%Ln Stelle</numerusform>
            <numerusform>%Ln Stellen</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>… and %Ln more</source>
        <translation>
            <numerusform>… und eine weitere</numerusform>
            <numerusform>… und %Ln weitere</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln could not be read</source>
        <translation>
            <numerusform>%Ln konnte nicht gelesen werden</numerusform>
            <numerusform>%Ln konnten nicht gelesen werden</numerusform>
        </translation>
    </message>
    <message>
        <source>File</source>
        <translation>Datei</translation>
    </message>
    <message>
        <source>State</source>
        <translation>Zustand</translation>
    </message>
    <message>
        <source>Pages</source>
        <translation>Seiten</translation>
    </message>
    <message>
        <source>Passages</source>
        <translation>Stellen</translation>
    </message>
    <message>
        <source>Size</source>
        <translation>Größe</translation>
    </message>
    <message>
        <source>Read</source>
        <translation>Gelesen</translation>
    </message>
    <message>
        <source>Not read</source>
        <translation>Nicht gelesen</translation>
    </message>
    <message>
        <source>Not there now</source>
        <translation>Zurzeit nicht da</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>Modell</translation>
    </message>
    <message>
        <source>Search</source>
        <translation>Suche</translation>
    </message>
    <message>
        <source>Instructions</source>
        <translation>Anweisungen</translation>
    </message>
    <message>
        <source>What the model should know and do in every chat of this project</source>
        <translation>Was das Modell in jedem Chat dieses Projekts wissen und beachten soll</translation>
    </message>
    <message>
        <source>The loaded model</source>
        <translation>Das geladene Modell</translation>
    </message>
    <message>
        <source>Another file…</source>
        <translation>Andere Datei …</translation>
    </message>
    <message>
        <source>By words</source>
        <translation>Nach Wörtern</translation>
    </message>
    <message>
        <source>By words and meaning ({name})</source>
        <translation>Nach Wörtern und Bedeutung ({name})</translation>
    </message>
    <message>
        <source>By meaning too: download {name} ({size})</source>
        <translation>Auch nach Bedeutung: {name} herunterladen ({size})</translation>
    </message>
    <message>
        <source>By meaning too, English only: download {name} ({size})</source>
        <translation>Auch nach Bedeutung, nur Englisch: {name} herunterladen ({size})</translation>
    </message>
    <message>
        <source>By meaning too: choose an embedding model…</source>
        <translation>Auch nach Bedeutung: Embedding-Modell wählen …</translation>
    </message>
    <message>
        <source>Files</source>
        <translation>Dateien</translation>
    </message>
    <message>
        <source>Add files…</source>
        <translation>Dateien hinzufügen …</translation>
    </message>
    <message>
        <source>Add a folder…</source>
        <translation>Ordner hinzufügen …</translation>
    </message>
    <message>
        <source>Remove from the project</source>
        <translation>Aus dem Projekt entfernen</translation>
    </message>
    <message>
        <source>The files themselves stay where they are</source>
        <translation>Die Dateien selbst bleiben, wo sie sind</translation>
    </message>
    <message>
        <source>Export…</source>
        <translation>Exportieren …</translation>
    </message>
    <message>
        <source>One zip file with the instructions, the files and the chats of this project</source>
        <translation>Eine Zip-Datei mit den Anweisungen, den Dateien und den Chats dieses Projekts</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Schließen</translation>
    </message>
    <message>
        <source>Reading files</source>
        <translation>Dateien werden gelesen</translation>
    </message>
    <message>
        <source>Every question in this project is answered with passages of these files. They are read on this computer, and stay where they are: a change in a folder is noticed. Drop files or folders here to add them.</source>
        <translation>Jede Frage in diesem Projekt wird mit Stellen aus diesen Dateien beantwortet. Sie werden auf diesem Rechner gelesen und bleiben, wo sie sind; Änderungen in einem Ordner werden bemerkt. Ziehen Sie Dateien oder Ordner hierher, um sie hinzuzufügen.</translation>
    </message>
    <message>
        <source>Only the first {number} files of a folder are read: add its folders instead</source>
        <translation>Nur die ersten {number} Dateien eines Ordners werden gelesen: Fügen Sie stattdessen seine Unterordner hinzu</translation>
    </message>
    <message>
        <source>{done} of {total}: {name}</source>
        <translation>{done} von {total}: {name}</translation>
    </message>
    <message>
        <source>Pause</source>
        <translation>Anhalten</translation>
    </message>
    <message>
        <source>Look for changes</source>
        <translation>Nach Änderungen suchen</translation>
    </message>
    <message>
        <source>Add files</source>
        <translation>Dateien hinzufügen</translation>
    </message>
    <message>
        <source>Add a folder</source>
        <translation>Ordner hinzufügen</translation>
    </message>
</context>
<context>
    <name>Projects</name>
    <message>
        <source>The files of this project could not be read: {reason}</source>
        <translation>Die Dateien dieses Projekts konnten nicht gelesen werden: {reason}</translation>
    </message>
    <message>
        <source>by meaning</source>
        <translation>nach der Bedeutung</translation>
    </message>
    <message>
        <source>The model was given no passage with this number.</source>
        <translation>Das Modell hat keine Stelle mit dieser Nummer bekommen.</translation>
    </message>
    <message>
        <source>{name} is being downloaded. The page Downloads shows its progress.</source>
        <translation>{name} wird heruntergeladen. Die Seite „Downloads“ zeigt den Fortschritt.</translation>
    </message>
    <message>
        <source>The project was exported.</source>
        <translation>Das Projekt wurde exportiert.</translation>
    </message>
    <message>
        <source>{project} uses the model “{name}”.</source>
        <translation>{project} verwendet das Modell „{name}“.</translation>
    </message>
    <message>
        <source>Load it</source>
        <translation>Laden</translation>
    </message>
    <message numerus="yes">
        <source>%Ln files could not be read, and were left out.</source>
        <translation>
            <numerusform>Eine Datei konnte nicht gelesen werden und fehlt im Export.</numerusform>
            <numerusform>%Ln Dateien konnten nicht gelesen werden und fehlen im Export.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>PromptCard</name>
    <message>
        <source>Send “{prompt}”</source>
        <translation>„{prompt}“ senden</translation>
    </message>
</context>
<context>
    <name>PromptLine</name>
    <message>
        <source>System prompt of this chat: {text}</source>
        <translation>Systemprompt dieses Chats: {text}</translation>
    </message>
    <message>
        <source>Instructions of this project: {text}</source>
        <translation>Anweisungen dieses Projekts: {text}</translation>
    </message>
    <message>
        <source>System prompt of this model: {text}</source>
        <translation>Systemprompt dieses Modells: {text}</translation>
    </message>
    <message>
        <source>System prompt of all chats: {text}</source>
        <translation>Systemprompt aller Chats: {text}</translation>
    </message>
    <message>
        <source>System prompt</source>
        <translation>Systemprompt</translation>
    </message>
    <message>
        <source>Opens it to be changed</source>
        <translation>Öffnet ihn zum Ändern</translation>
    </message>
</context>
<context>
    <name>PromptList</name>
    <message>
        <source>Prompts</source>
        <translation>Vorlagen</translation>
    </message>
    <message>
        <source>Edit prompts…</source>
        <translation>Vorlagen bearbeiten …</translation>
    </message>
    <message>
        <source>Up and Down choose, Enter inserts, Esc closes</source>
        <translation>Auf und Ab wählen, die Eingabetaste fügt ein, Esc schließt</translation>
    </message>
</context>
<context>
    <name>Prompts</name>
    <message>
        <source>summarise</source>
        <translation>zusammenfassen</translation>
    </message>
    <message>
        <source>Summarise the following text in {number} sentences:

{text}</source>
        <translation>Fasse den folgenden Text in {Anzahl} Sätzen zusammen:

{Text}</translation>
    </message>
    <message>
        <source>translate</source>
        <translation>übersetzen</translation>
    </message>
    <message>
        <source>Translate the following text into {language}. Keep its tone:

{text}</source>
        <translation>Übersetze den folgenden Text ins {Sprache}. Behalte den Ton bei:

{Text}</translation>
    </message>
    <message>
        <source>explain-code</source>
        <translation>code-erklären</translation>
    </message>
    <message>
        <source>Explain step by step what this code does, and name what could go wrong:

{code}</source>
        <translation>Erkläre Schritt für Schritt, was dieser Code tut, und nenne, was schiefgehen könnte:

{Code}</translation>
    </message>
    <message>
        <source>shorter</source>
        <translation>kürzer</translation>
    </message>
    <message>
        <source>Rewrite this in half as many words without losing a fact:

{text}</source>
        <translation>Schreibe dies mit halb so vielen Wörtern neu, ohne eine Tatsache zu verlieren:

{Text}</translation>
    </message>
    <message>
        <source>proofread</source>
        <translation>korrigieren</translation>
    </message>
    <message>
        <source>Correct spelling and grammar, change nothing else, and list what you changed:

{text}</source>
        <translation>Korrigiere Rechtschreibung und Grammatik, ändere sonst nichts, und liste auf, was du geändert hast:

{Text}</translation>
    </message>
</context>
<context>
    <name>PromptsPage</name>
    <message>
        <source>Prompts</source>
        <translation>Vorlagen</translation>
    </message>
    <message>
        <source>Add</source>
        <translation>Hinzufügen</translation>
    </message>
    <message>
        <source>Delete</source>
        <translation>Löschen</translation>
    </message>
    <message>
        <source>Name</source>
        <translation>Name</translation>
    </message>
    <message>
        <source>Name, typed after /</source>
        <translation>Name, nach / getippt</translation>
    </message>
    <message>
        <source>Text</source>
        <translation>Text</translation>
    </message>
    <message>
        <source>Add a prompt</source>
        <translation>Vorlage hinzufügen</translation>
    </message>
    <message>
        <source>Delete the chosen prompt</source>
        <translation>Gewählte Vorlage löschen</translation>
    </message>
    <message>
        <source>Type / in an empty message to insert one. Words in {braces} are filled in one by one.</source>
        <translation>Tippen Sie / in eine leere Nachricht, um eine einzufügen. Wörter in {braces} werden der Reihe nach ausgefüllt.</translation>
    </message>
    <message>
        <source>braces</source>
        <translation>Klammern</translation>
    </message>
    <message>
        <source>A prompt</source>
        <translation>Eine Vorlage</translation>
    </message>
    <message>
        <source>Give every prompt a name.</source>
        <translation>Geben Sie jeder Vorlage einen Namen.</translation>
    </message>
    <message>
        <source>{name} appears twice.</source>
        <translation>{name} ist doppelt vorhanden.</translation>
    </message>
    <message>
        <source>{name} needs a text of at most {number} characters.</source>
        <translation>{name} braucht einen Text von höchstens {number} Zeichen.</translation>
    </message>
</context>
<context>
    <name>Race</name>
    <message numerus="yes">
        <source>%n tokens</source>
        <translation>
            <numerusform>%n Token</numerusform>
            <numerusform>%n Token</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>With %n pictures</source>
        <translation>
            <numerusform>Mit %n Bild</numerusform>
            <numerusform>Mit %n Bildern</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>With the %n earlier messages of the chat</source>
        <translation>
            <numerusform>Mit der einen früheren Nachricht des Chats</numerusform>
            <numerusform>Mit den %n früheren Nachrichten des Chats</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n threads at the end</source>
        <translation>
            <numerusform>am Ende %n Thread</numerusform>
            <numerusform>am Ende %n Threads</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n rounds</source>
        <translation>
            <numerusform>%n Runde</numerusform>
            <numerusform>%n Runden</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n rounds are over</source>
        <translation>
            <numerusform>%n Runde ist vorbei</numerusform>
            <numerusform>%n Runden sind vorbei</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n layers on the GPU</source>
        <translation>
            <numerusform>%n Schicht auf der GPU</numerusform>
            <numerusform>%n Schichten auf der GPU</numerusform>
        </translation>
    </message>
    <message>
        <source>A race is using the model. Wait until it is over, or stop it.</source>
        <translation>Ein Rennen belegt das Modell. Warten Sie, bis es vorbei ist, oder stoppen Sie es.</translation>
    </message>
    <message>
        <source>No model is loaded. Open one first.</source>
        <translation>Kein Modell ist geladen. Öffnen Sie zuerst eines.</translation>
    </message>
    <message>
        <source>The model is loading.</source>
        <translation>Das Modell wird geladen.</translation>
    </message>
    <message>
        <source>An answer is being written. Wait for it, or stop it.</source>
        <translation>Gerade wird eine Antwort geschrieben. Warten Sie darauf, oder stoppen Sie sie.</translation>
    </message>
    <message>
        <source>Copied</source>
        <translation>Kopiert</translation>
    </message>
    <message>
        <source>Race exported to {name}.</source>
        <translation>Rennen nach {name} exportiert.</translation>
    </message>
    <message>
        <source>Progress</source>
        <translation>Fortschritt</translation>
    </message>
    <message>
        <source>Tokens written so far, and the seconds that this lane has computed. Lanes take turns, so the clock of a lane stands still while another one computes.</source>
        <translation>Bisher geschriebene Token, und wie viele Sekunden diese Bahn gerechnet hat. Die Bahnen wechseln sich ab; die Uhr einer Bahn steht, während eine andere rechnet.</translation>
    </message>
    <message>
        <source>Tokens per pass</source>
        <translation>Token pro Durchlauf</translation>
    </message>
    <message>
        <source>Tokens per pass of the target. Without drafting it is exactly 1.</source>
        <translation>Token pro Durchlauf des Zielmodells. Ohne Entwürfe ist es genau 1.</translation>
    </message>
    <message>
        <source>Lost to rollback</source>
        <translation>Durch Zurücknehmen verloren</translation>
    </message>
    <message>
        <source>Time that dropping rejected tokens took, with the bookkeeping after a pass.</source>
        <translation>Zeit für das Verwerfen abgelehnter Token und die Buchführung nach einem Durchlauf.</translation>
    </message>
    <message>
        <source>Drafting</source>
        <translation>Entwerfen</translation>
    </message>
    <message>
        <source>Time that proposing tokens took.</source>
        <translation>Zeit für das Vorschlagen von Token.</translation>
    </message>
    <message>
        <source>Tokens per second of this lane&apos;s own time, without reading the prompt.</source>
        <translation>Token pro Sekunde der eigenen Zeit dieser Bahn, ohne das Lesen der Eingabe.</translation>
    </message>
    <message>
        <source>Speed relative to the reference lane.</source>
        <translation>Tempo im Verhältnis zur Vergleichsbahn.</translation>
    </message>
    <message>
        <source>Answer of the lane {name}</source>
        <translation>Antwort der Bahn {name}</translation>
    </message>
    <message>
        <source>Lane {name}</source>
        <translation>Bahn {name}</translation>
    </message>
    <message>
        <source>tok/s</source>
        <translation>Tok/s</translation>
    </message>
    <message>
        <source>the speed of {base}</source>
        <translation>im Vergleich zu {base}</translation>
    </message>
    <message>
        <source>reading the question</source>
        <translation>liest die Frage</translation>
    </message>
    <message>
        <source>writing</source>
        <translation>schreibt</translation>
    </message>
    <message>
        <source>done in {time}</source>
        <translation>fertig in {time}</translation>
    </message>
    <message>
        <source>done</source>
        <translation>fertig</translation>
    </message>
    <message>
        <source>Back to the chat (Esc)</source>
        <translation>Zurück zum Chat (Esc)</translation>
    </message>
    <message>
        <source>Race</source>
        <translation>Rennen</translation>
    </message>
    <message>
        <source> Stop</source>
        <translation> Stopp</translation>
    </message>
    <message>
        <source>Copy the picture</source>
        <translation>Das Bild kopieren</translation>
    </message>
    <message>
        <source>Copy picture</source>
        <translation>Bild kopieren</translation>
    </message>
    <message>
        <source>New race</source>
        <translation>Neues Rennen</translation>
    </message>
    <message>
        <source>Stop the race (Esc)</source>
        <translation>Rennen stoppen (Esc)</translation>
    </message>
    <message>
        <source>Stop the race</source>
        <translation>Rennen stoppen</translation>
    </message>
    <message>
        <source>The race is over. The Race page shows the result.</source>
        <translation>Das Rennen ist vorbei. Die Seite „Rennen“ zeigt das Ergebnis.</translation>
    </message>
    <message>
        <source>reference</source>
        <translation>Vergleichsbahn</translation>
    </message>
    <message>
        <source>Question</source>
        <translation>Frage</translation>
    </message>
    <message>
        <source>What should the lanes answer?</source>
        <translation>Was sollen die Bahnen beantworten?</translation>
    </message>
    <message>
        <source>How many tokens are proposed for a pass of the target.</source>
        <translation>Wie viele Token für einen Durchlauf des Zielmodells vorgeschlagen werden.</translation>
    </message>
    <message>
        <source>Another draft is loaded for this lane alone.</source>
        <translation>Für diese Bahn allein wird ein anderes Entwurfsmodell geladen.</translation>
    </message>
    <message>
        <source>Remove this lane</source>
        <translation>Diese Bahn entfernen</translation>
    </message>
    <message>
        <source>Lane {number}</source>
        <translation>Bahn {number}</translation>
    </message>
    <message>
        <source>Mode of lane {number}</source>
        <translation>Modus von Bahn {number}</translation>
    </message>
    <message>
        <source>Draft length: auto</source>
        <translation>Entwurfslänge: Auto</translation>
    </message>
    <message>
        <source>Draft length of lane {number}</source>
        <translation>Entwurfslänge von Bahn {number}</translation>
    </message>
    <message>
        <source>Draft model of lane {number}</source>
        <translation>Entwurfsmodell von Bahn {number}</translation>
    </message>
    <message>
        <source>Remove lane {number}</source>
        <translation>Bahn {number} entfernen</translation>
    </message>
    <message>
        <source>Add a lane</source>
        <translation>Bahn hinzufügen</translation>
    </message>
    <message>
        <source>Start the race</source>
        <translation>Rennen starten</translation>
    </message>
    <message>
        <source>{number} tokens</source>
        <translation>{number} Token</translation>
    </message>
    <message>
        <source>Set up the race</source>
        <translation>Rennen einrichten</translation>
    </message>
    <message>
        <source>Save the picture</source>
        <translation>Bild speichern</translation>
    </message>
    <message>
        <source>Save picture</source>
        <translation>Bild speichern</translation>
    </message>
    <message>
        <source>The same race again, or another one</source>
        <translation>Dasselbe Rennen noch einmal, oder ein anderes</translation>
    </message>
    <message>
        <source>Rounds</source>
        <translation>Runden</translation>
    </message>
    <message>
        <source>Longest answer</source>
        <translation>Längste Antwort</translation>
    </message>
    <message>
        <source>Temperature</source>
        <translation>Temperatur</translation>
    </message>
    <message>
        <source>Two lanes are the same. Choose another mode, draft length or draft for one of them.</source>
        <translation>Zwei Bahnen sind gleich. Wählen Sie für eine davon einen anderen Modus, eine andere Entwurfslänge oder einen anderen Entwurf.</translation>
    </message>
    <message>
        <source>Loaded draft, if any</source>
        <translation>Geladenes Entwurfsmodell, falls vorhanden</translation>
    </message>
    <message>
        <source>More rounds make the result more certain.</source>
        <translation>Mit mehr Runden wird das Ergebnis sicherer.</translation>
    </message>
    <message>
        <source>Start the race (Ctrl+Enter)</source>
        <translation>Rennen starten (Strg+Eingabetaste)</translation>
    </message>
    <message>
        <source>Lanes</source>
        <translation>Bahnen</translation>
    </message>
    <message>
        <source>{number}, as in the settings</source>
        <translation>{number}, wie eingestellt</translation>
    </message>
    <message>
        <source>The first round is not over yet</source>
        <translation>Die erste Runde läuft noch</translation>
    </message>
    <message>
        <source>Measuring the time of a pass, and reading the question</source>
        <translation>Die Dauer eines Durchlaufs wird gemessen und die Frage gelesen</translation>
    </message>
    <message>
        <source>Too close to call between {lane} and {base}</source>
        <translation>Zu knapp, um zwischen {lane} und {base} zu entscheiden</translation>
    </message>
    <message>
        <source>{lane} is faster than {base}</source>
        <translation>{lane} ist schneller als {base}</translation>
    </message>
    <message>
        <source>{lane} is slower than {base}</source>
        <translation>{lane} ist langsamer als {base}</translation>
    </message>
    <message>
        <source>{lane} was slower than {base} this time</source>
        <translation>{lane} war diesmal langsamer als {base}</translation>
    </message>
    <message>
        <source>{lane} was faster than {base} this time</source>
        <translation>{lane} war diesmal schneller als {base}</translation>
    </message>
    <message>
        <source>Waiting for the model</source>
        <translation>Wartet auf das Modell</translation>
    </message>
    <message>
        <source>Round {number} of {all}</source>
        <translation>Runde {number} von {all}</translation>
    </message>
    <message>
        <source>up to {number} tokens</source>
        <translation>bis zu {number} Token</translation>
    </message>
    <message>
        <source>{name}, draft length {depth}</source>
        <translation>{name}, Entwurfslänge {depth}</translation>
    </message>
    <message>
        <source>a round that was cut short</source>
        <translation>eine abgebrochene Runde</translation>
    </message>
    <message>
        <source>temperature {number}</source>
        <translation>Temperatur {number}</translation>
    </message>
    <message>
        <source>{target} with {draft}</source>
        <translation>{target} mit {draft}</translation>
    </message>
    <message numerus="yes">
        <source>over %n rounds</source>
        <translation>
            <numerusform>eine Runde</numerusform>
            <numerusform>über %n Runden</numerusform>
        </translation>
    </message>
    <message>
        <source>Draft length {depth}</source>
        <translation>Entwurfslänge {depth}</translation>
    </message>
    <message>
        <source>Lanes take turns every quarter of a second, so that all run under the same conditions. Each has a cache of its own. Chats are answered when the race is over.</source>
        <translation>Die Bahnen wechseln sich jede Viertelsekunde ab, damit für alle dieselben Bedingungen gelten. Jede hat einen eigenen Cache. Chats werden beantwortet, wenn das Rennen vorbei ist.</translation>
    </message>
</context>
<context>
    <name>RaceFiles</name>
    <message>
        <source>Save the picture of the race</source>
        <translation>Bild des Rennens speichern</translation>
    </message>
    <message>
        <source>Picture (*.png)</source>
        <translation>Bild (*.png)</translation>
    </message>
    <message>
        <source>Paceline race</source>
        <translation>Paceline-Rennen</translation>
    </message>
</context>
<context>
    <name>ReasoningBlock</name>
    <message>
        <source>{seconds} s</source>
        <translation>{seconds} s</translation>
    </message>
    <message>
        <source>Reasoning</source>
        <translation>Gedankengang</translation>
    </message>
    <message>
        <source>open</source>
        <translation>offen</translation>
    </message>
    <message>
        <source>folded</source>
        <translation>eingeklappt</translation>
    </message>
    <message>
        <source>Reasoning. {heading}, {state}</source>
        <translation>Gedankengang. {heading}, {state}</translation>
    </message>
    <message>
        <source>Thinking…</source>
        <translation>Denkt nach …</translation>
    </message>
    <message>
        <source>Thinking… {seconds} s</source>
        <translation>Denkt nach … {seconds} s</translation>
    </message>
    <message>
        <source>Thought</source>
        <translation>Nachgedacht</translation>
    </message>
    <message>
        <source>Thought for {duration}</source>
        <translation>{duration} nachgedacht</translation>
    </message>
</context>
<context>
    <name>Recommendations</name>
    <message>
        <source>It is no longer available as listed here.</source>
        <translation>So, wie es hier steht, ist es nicht mehr verfügbar.</translation>
    </message>
    <message>
        <source>{first} and {second}</source>
        <translation>{first} und {second}</translation>
    </message>
    <message>
        <source>Answers simple questions in English on any computer. It is often wrong.</source>
        <translation>Beantwortet einfache Fragen auf Englisch, auf jedem Rechner. Es irrt sich oft.</translation>
    </message>
    <message>
        <source>{licence}, by {maker}; from PyPI ({package}) or the Hugging Face hub</source>
        <translation>{licence}, von {maker}; von PyPI ({package}) oder vom Hugging-Face-Hub</translation>
    </message>
</context>
<context>
    <name>RecommendedPage</name>
    <message>
        <source>Run well on this computer</source>
        <translation>Laufen gut auf diesem Rechner</translation>
    </message>
    <message>
        <source>Fit this computer</source>
        <translation>Laufen auf diesem Rechner</translation>
    </message>
    <message>
        <source>A tight fit</source>
        <translation>Passen knapp</translation>
    </message>
    <message>
        <source>Not checked yet</source>
        <translation>Noch nicht geprüft</translation>
    </message>
    <message>
        <source>Too large for this computer</source>
        <translation>Zu groß für diesen Rechner</translation>
    </message>
    <message>
        <source>downloaded</source>
        <translation>heruntergeladen</translation>
    </message>
    <message>
        <source>Recommended pairs</source>
        <translation>Empfohlene Paare</translation>
    </message>
    <message>
        <source>Each comes with a way to draft: a small model, heads, or repeated text.</source>
        <translation>Jedes Paar hat einen Weg zu entwerfen: ein kleines Modell, Köpfe oder wiederholten Text.</translation>
    </message>
    <message>
        <source>Looking for models that fit this computer…</source>
        <translation>Modelle, die auf diesen Rechner passen, werden gesucht …</translation>
    </message>
    <message>
        <source>Pair</source>
        <translation>Paar</translation>
    </message>
    <message>
        <source>Search models</source>
        <translation>Modelle suchen</translation>
    </message>
    <message>
        <source>The list of recommended pairs is empty. Search for models yourself.</source>
        <translation>Die Liste der empfohlenen Paare ist leer. Suchen Sie selbst nach Modellen.</translation>
    </message>
    <message>
        <source>No recommendations</source>
        <translation>Keine Empfehlungen</translation>
    </message>
    <message>
        <source>Try again</source>
        <translation>Erneut versuchen</translation>
    </message>
    <message>
        <source>Drafting</source>
        <translation>Entwerfen</translation>
    </message>
    <message>
        <source>Licence</source>
        <translation>Lizenz</translation>
    </message>
    <message>
        <source>On this computer</source>
        <translation>Auf diesem Rechner</translation>
    </message>
    <message>
        <source>Hub</source>
        <translation>Hub</translation>
    </message>
</context>
<context>
    <name>RemoteServersController</name>
    <message numerus="yes">
        <source>Connected to {host}: %n models.</source>
        <translation>
            <numerusform>Mit {host} verbunden: %n Modell.</numerusform>
            <numerusform>Mit {host} verbunden: %n Modelle.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>Repeat</name>
    <message>
        <source>Seed {seed} gave the same answer again.</source>
        <translation>Seed {seed} hat dieselbe Antwort wieder ergeben.</translation>
    </message>
    <message>
        <source>Seed {seed} gave the same text, up to the end of the shorter answer.</source>
        <translation>Seed {seed} hat denselben Text ergeben, bis zum Ende der kürzeren Antwort.</translation>
    </message>
    <message>
        <source>Seed {seed} gave another answer than before: the model, the tools or the messages before it have changed, or this model does not repeat answers exactly.</source>
        <translation>Seed {seed} hat eine andere Antwort ergeben als zuvor: Das Modell, die Werkzeuge oder die Nachrichten davor haben sich geändert, oder dieses Modell wiederholt Antworten nicht genau.</translation>
    </message>
</context>
<context>
    <name>RepoPane</name>
    <message numerus="yes">
        <source>{compact} downloads</source>
        <translation>
            <numerusform>{compact} Download</numerusform>
            <numerusform>{compact} Downloads</numerusform>
        </translation>
    </message>
    <message>
        <source>by {author}</source>
        <translation>von {author}</translation>
    </message>
    <message>
        <source>updated {day}</source>
        <translation>aktualisiert {day}</translation>
    </message>
    <message>
        <source>licence {licence}</source>
        <translation>Lizenz {licence}</translation>
    </message>
    <message>
        <source>licence not stated</source>
        <translation>Lizenz nicht angegeben</translation>
    </message>
    <message>
        <source>Files</source>
        <translation>Dateien</translation>
    </message>
    <message>
        <source>Open the model&apos;s page</source>
        <translation>Seite des Modells öffnen</translation>
    </message>
    <message>
        <source>Choose a model</source>
        <translation>Ein Modell wählen</translation>
    </message>
    <message>
        <source>You will see its files, their sizes and whether they fit this computer.</source>
        <translation>Hier sehen Sie dann seine Dateien, deren Größen und ob sie auf diesen Rechner passen.</translation>
    </message>
    <message>
        <source>Details</source>
        <translation>Einzelheiten</translation>
    </message>
    <message>
        <source>This repository contains no GGUF files. See its page for other formats.</source>
        <translation>Dieses Repository enthält keine GGUF-Datei. Sehen Sie auf seiner Seite nach anderen Formaten.</translation>
    </message>
</context>
<context>
    <name>SearchPage</name>
    <message numerus="yes">
        <source>%n models</source>
        <translation>
            <numerusform>%n Modell</numerusform>
            <numerusform>%n Modelle</numerusform>
        </translation>
    </message>
    <message>
        <source>The hub has no such repository with GGUF files. Try other words.</source>
        <translation>Der Hub hat kein solches Repository mit GGUF-Dateien. Versuche andere Wörter.</translation>
    </message>
    <message numerus="yes">
        <source>{compact} downloads</source>
        <translation>
            <numerusform>{compact} Download</numerusform>
            <numerusform>{compact} Downloads</numerusform>
        </translation>
    </message>
    <message>
        <source>Gated</source>
        <translation>Zugang nötig</translation>
    </message>
    <message>
        <source>Results</source>
        <translation>Ergebnisse</translation>
    </message>
    <message>
        <source>Search models on Hugging Face</source>
        <translation>Modelle auf Hugging Face suchen</translation>
    </message>
    <message>
        <source>Search models</source>
        <translation>Modelle suchen</translation>
    </message>
    <message>
        <source>Clear the search</source>
        <translation>Suche leeren</translation>
    </message>
    <message>
        <source>Searching…</source>
        <translation>Wird gesucht …</translation>
    </message>
    <message>
        <source>Nothing found</source>
        <translation>Nichts gefunden</translation>
    </message>
    <message>
        <source>Searching the hub</source>
        <translation>Der Hub wird durchsucht</translation>
    </message>
</context>
<context>
    <name>SearchResults</name>
    <message>
        <source>archived</source>
        <translation>archiviert</translation>
    </message>
    <message>
        <source>Search results</source>
        <translation>Suchergebnisse</translation>
    </message>
</context>
<context>
    <name>ServerAccess</name>
    <message>
        <source>Base URL</source>
        <translation>Basis-URL</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>Modell</translation>
    </message>
    <message>
        <source>Key</source>
        <translation>Schlüssel</translation>
    </message>
    <message>
        <source>Show the key</source>
        <translation>Schlüssel anzeigen</translation>
    </message>
    <message>
        <source>Programs on this computer do not need the key.</source>
        <translation>Programme auf diesem Rechner brauchen den Schlüssel nicht.</translation>
    </message>
    <message>
        <source>Make another key; programs with the old one are disconnected</source>
        <translation>Neuen Schlüssel erzeugen; Programme mit dem alten werden getrennt</translation>
    </message>
    <message>
        <source>Use it from other programs</source>
        <translation>In anderen Programmen verwenden</translation>
    </message>
    <message>
        <source>In the program, choose an “OpenAI-compatible” provider and enter these.</source>
        <translation>Wählen Sie in dem Programm einen „OpenAI-kompatiblen“ Anbieter, und geben Sie diese Werte ein.</translation>
    </message>
    <message>
        <source>Hide the key</source>
        <translation>Schlüssel verbergen</translation>
    </message>
    <message>
        <source>Copy: {what}</source>
        <translation>Kopieren: {what}</translation>
    </message>
    <message>
        <source>Copied</source>
        <translation>Kopiert</translation>
    </message>
</context>
<context>
    <name>ServerPage</name>
    <message>
        <source>Back to the chat (Esc)</source>
        <translation>Zurück zum Chat (Esc)</translation>
    </message>
    <message>
        <source>Settings…</source>
        <translation>Einstellungen …</translation>
    </message>
    <message>
        <source>Stop the answer</source>
        <translation>Antwort stoppen</translation>
    </message>
    <message>
        <source>Try again</source>
        <translation>Erneut versuchen</translation>
    </message>
    <message>
        <source>Local server</source>
        <translation>Lokaler Server</translation>
    </message>
    <message>
        <source>Models</source>
        <translation>Modelle</translation>
    </message>
    <message>
        <source>Requests</source>
        <translation>Anfragen</translation>
    </message>
    <message>
        <source>{running} running, {waiting} waiting</source>
        <translation>{running} in Arbeit, {waiting} warten</translation>
    </message>
    <message>
        <source>{running} running, {waiting} waiting, {speed} in all</source>
        <translation>{running} in Arbeit, {waiting} warten, zusammen {speed}</translation>
    </message>
    <message>
        <source>Stop the answers</source>
        <translation>Antworten stoppen</translation>
    </message>
    <message>
        <source>{name}, the model of your chats</source>
        <translation>{name}, das Modell Ihrer Chats</translation>
    </message>
    <message>
        <source>No model is loaded. Programs are told to try again.</source>
        <translation>Kein Modell ist geladen. Programme werden gebeten, es noch einmal zu versuchen.</translation>
    </message>
    <message>
        <source>In memory now, for a program: {name}.</source>
        <translation>Jetzt im Speicher, für ein Programm: {name}.</translation>
    </message>
</context>
<context>
    <name>SettingRows</name>
    <message>
        <source>Open a GGUF file: {what}</source>
        <translation>GGUF-Datei öffnen: {what}</translation>
    </message>
    <message>
        <source>Open a GGUF file</source>
        <translation>GGUF-Datei öffnen</translation>
    </message>
    <message>
        <source>Models (*.gguf);;All files (*)</source>
        <translation>Modelle (*.gguf);;Alle Dateien (*)</translation>
    </message>
    <message>
        <source>{low} to {high}</source>
        <translation>{low} bis {high}</translation>
    </message>
    <message>
        <source>{number} or more</source>
        <translation>{number} oder mehr</translation>
    </message>
    <message>
        <source>{number} or less</source>
        <translation>{number} oder weniger</translation>
    </message>
    <message>
        <source>any</source>
        <translation>beliebig</translation>
    </message>
</context>
<context>
    <name>Settings</name>
    <message>
        <source>Engine</source>
        <translation>Engine</translation>
    </message>
    <message>
        <source>Devices</source>
        <translation>Geräte</translation>
    </message>
    <message>
        <source>Device</source>
        <translation>Gerät</translation>
    </message>
    <message>
        <source>The devices that hold the model, separated by commas. “none” uses the processor alone.</source>
        <translation>Die Geräte, auf denen das Modell liegt, durch Kommas getrennt. „none“ nimmt nur den Prozessor.</translation>
    </message>
    <message>
        <source>all GPUs</source>
        <translation>alle GPUs</translation>
    </message>
    <message>
        <source>Draft device</source>
        <translation>Gerät des Entwurfsmodells</translation>
    </message>
    <message>
        <source>The device that runs the draft model.</source>
        <translation>Das Gerät, auf dem das Entwurfsmodell läuft.</translation>
    </message>
    <message>
        <source>Split</source>
        <translation>Aufteilung</translation>
    </message>
    <message>
        <source>How several devices share the model. Rows and tensors need devices that support it.</source>
        <translation>Wie sich mehrere Geräte das Modell teilen. Zeilen und Tensoren brauchen Geräte, die das können.</translation>
    </message>
    <message>
        <source>Layer by layer</source>
        <translation>Schicht für Schicht</translation>
    </message>
    <message>
        <source>By rows</source>
        <translation>Nach Zeilen</translation>
    </message>
    <message>
        <source>By tensors (experimental)</source>
        <translation>Nach Tensoren (experimentell)</translation>
    </message>
    <message>
        <source>Shares</source>
        <translation>Anteile</translation>
    </message>
    <message>
        <source>How much of the model each device gets, as proportions in the order of the devices.</source>
        <translation>Wie viel vom Modell jedes Gerät bekommt: Verhältniszahlen in der Reihenfolge der Geräte.</translation>
    </message>
    <message>
        <source>by free memory</source>
        <translation>nach freiem Speicher</translation>
    </message>
    <message>
        <source>Experts in main memory</source>
        <translation>Experten im Arbeitsspeicher</translation>
    </message>
    <message>
        <source>layers</source>
        <translation>Schichten</translation>
    </message>
    <message>
        <source>Context</source>
        <translation>Kontext</translation>
    </message>
    <message>
        <source>How many tokens of a conversation the model can see; more takes more memory.</source>
        <translation>Wie viele Token einer Unterhaltung das Modell sehen kann; mehr braucht mehr Speicher.</translation>
    </message>
    <message>
        <source>automatic</source>
        <translation>automatisch</translation>
    </message>
    <message>
        <source>tokens</source>
        <translation>Token</translation>
    </message>
    <message>
        <source>Threads</source>
        <translation>Threads</translation>
    </message>
    <message>
        <source>CPU threads used by the model; more than the physical cores rarely helps.</source>
        <translation>Prozessor-Threads für das Modell; mehr als die physischen Kerne hilft selten.</translation>
    </message>
    <message>
        <source>GPU layers</source>
        <translation>GPU-Schichten</translation>
    </message>
    <message>
        <source>Layers of the model kept on the GPU; 0 uses the CPU only.</source>
        <translation>Schichten des Modells auf der GPU; 0 nutzt nur den Prozessor.</translation>
    </message>
    <message>
        <source>all that fit</source>
        <translation>alle, die passen</translation>
    </message>
    <message>
        <source>Cache type</source>
        <translation>Cache-Typ</translation>
    </message>
    <message>
        <source>How precisely the target remembers the conversation; smaller types change the answers a little, equally in every mode.</source>
        <translation>Wie genau sich das Zielmodell die Unterhaltung merkt; kleinere Typen ändern die Antworten ein wenig, in jedem Modus gleich.</translation>
    </message>
    <message>
        <source>Flash attention</source>
        <translation>Flash Attention</translation>
    </message>
    <message>
        <source>On</source>
        <translation>An</translation>
    </message>
    <message>
        <source>Off</source>
        <translation>Aus</translation>
    </message>
    <message>
        <source>Draft threads</source>
        <translation>Threads (Entwurf)</translation>
    </message>
    <message>
        <source>CPU threads for the draft model.</source>
        <translation>Prozessor-Threads für das Entwurfsmodell.</translation>
    </message>
    <message>
        <source>Draft GPU layers</source>
        <translation>GPU-Schichten (Entwurf)</translation>
    </message>
    <message>
        <source>Layers of the draft kept on the GPU; 0 runs it on the CPU, even with the target on the GPU.</source>
        <translation>Schichten des Entwurfsmodells auf der GPU; mit 0 läuft es auf dem Prozessor, auch neben einem Zielmodell auf der GPU.</translation>
    </message>
    <message>
        <source>Draft cache type</source>
        <translation>Cache-Typ (Entwurf)</translation>
    </message>
    <message>
        <source>Models</source>
        <translation>Modelle</translation>
    </message>
    <message>
        <source>Speculation</source>
        <translation>Spekulation</translation>
    </message>
    <message>
        <source>Sampling</source>
        <translation>Sampling</translation>
    </message>
    <message>
        <source>Chat</source>
        <translation>Chat</translation>
    </message>
    <message>
        <source>Tools</source>
        <translation>Werkzeuge</translation>
    </message>
    <message>
        <source>N-gram (prompt lookup)</source>
        <translation>N-Gramm (Nachschlagen im Text)</translation>
    </message>
    <message>
        <source>Suffix decoding</source>
        <translation>Suffix-Dekodieren</translation>
    </message>
    <message>
        <source>Draft model</source>
        <translation>Entwurfsmodell</translation>
    </message>
    <message>
        <source>Embedding model</source>
        <translation>Embedding-Modell</translation>
    </message>
    <message>
        <source>Finds passages of a project&apos;s files by their meaning as well as by their words. A GGUF file made for embeddings, such as Nomic Embed or EmbeddingGemma.</source>
        <translation>Findet Stellen in den Dateien eines Projekts nicht nur nach den Wörtern, sondern auch nach der Bedeutung. Eine GGUF-Datei, die für Embeddings gemacht ist, etwa Nomic Embed oder EmbeddingGemma.</translation>
    </message>
    <message>
        <source>none: by words alone</source>
        <translation>keines: nur nach Wörtern</translation>
    </message>
    <message>
        <source>Also drafts from the text of other chats. The data stays on this computer; turning this off deletes it.</source>
        <translation>Entwirft auch aus dem Text anderer Chats. Die Daten bleiben auf diesem Rechner; Ausschalten löscht sie.</translation>
    </message>
    <message>
        <source>As needed</source>
        <translation>Nach Bedarf</translation>
    </message>
    <message>
        <source>Maximum</source>
        <translation>Maximal</translation>
    </message>
    <message>
        <source>Extra variables for the model&apos;s chat template. The pages of some models list them.</source>
        <translation>Zusätzliche Variablen für die Chat-Vorlage des Modells. Die Seiten mancher Modelle nennen sie.</translation>
    </message>
    <message>
        <source>Whether the model answers your message, or continues it as a text.</source>
        <translation>Ob das Modell Ihre Nachricht beantwortet oder sie als Text fortsetzt.</translation>
    </message>
    <message>
        <source>The connection is not encrypted: allow other computers only in a network that you trust.</source>
        <translation>Die Verbindung ist unverschlüsselt: Lassen Sie andere Rechner nur in einem Netz zu, dem Sie vertrauen.</translation>
    </message>
    <message>
        <source>Other models</source>
        <translation>Andere Modelle</translation>
    </message>
    <message>
        <source>Ask for the key</source>
        <translation>Schlüssel verlangen</translation>
    </message>
    <message>
        <source>Further names</source>
        <translation>Weitere Namen</translation>
    </message>
    <message>
        <source>Lets the model call tools. A tool that could change or reveal something asks you first.</source>
        <translation>Lässt das Modell Werkzeuge aufrufen. Ein Werkzeug, das etwas ändern oder preisgeben könnte, fragt Sie vorher.</translation>
    </message>
    <message>
        <source>Date and time</source>
        <translation>Datum und Uhrzeit</translation>
    </message>
    <message>
        <source>Calculator</source>
        <translation>Taschenrechner</translation>
    </message>
    <message>
        <source>Auto</source>
        <translation>Auto</translation>
    </message>
    <message>
        <source>Head (MTP, EAGLE-3)</source>
        <translation>Kopf (MTP, EAGLE-3)</translation>
    </message>
    <message>
        <source>Target</source>
        <translation>Zielmodell</translation>
    </message>
    <message>
        <source>The model that answers, a GGUF file. Leave empty for the small built-in one.</source>
        <translation>Das Modell, das antwortet, eine GGUF-Datei. Leer: das kleine eingebaute.</translation>
    </message>
    <message>
        <source>built-in</source>
        <translation>eingebaut</translation>
    </message>
    <message>
        <source>Draft</source>
        <translation>Entwurfsmodell</translation>
    </message>
    <message>
        <source>The model that drafts for it, a GGUF file. Leave empty to use the built-in one with the built-in target.</source>
        <translation>Das Modell, das dafür entwirft, eine GGUF-Datei. Leer: zum eingebauten Zielmodell das eingebaute.</translation>
    </message>
    <message>
        <source>built-in or none</source>
        <translation>eingebaut oder keines</translation>
    </message>
    <message>
        <source>Library folder</source>
        <translation>Bibliotheksordner</translation>
    </message>
    <message>
        <source>Where downloaded models are stored. Changing it does not move any files.</source>
        <translation>Wo heruntergeladene Modelle liegen; eine Änderung verschiebt keine Datei.</translation>
    </message>
    <message>
        <source>in the app&apos;s data folder</source>
        <translation>im Datenordner von Paceline</translation>
    </message>
    <message>
        <source>Mode</source>
        <translation>Modus</translation>
    </message>
    <message>
        <source>Draft length</source>
        <translation>Entwurfslänge</translation>
    </message>
    <message>
        <source>Disk space for returning to a chat without reading it again. The files contain text of your chats; 0 deletes them.</source>
        <translation>Festplattenplatz, um ohne erneutes Lesen zu einem Chat zurückzukehren. Die Dateien enthalten Text Ihrer Chats; 0 löscht sie.</translation>
    </message>
    <message>
        <source>For mixture-of-experts models: the number of layers whose experts stay in main memory, so that the rest fits on the GPU.</source>
        <translation>Bei Mixture-of-Experts-Modellen (MoE): die Zahl der Schichten, deren Experten im Arbeitsspeicher bleiben, damit der Rest auf die GPU passt.</translation>
    </message>
    <message>
        <source>as many as necessary</source>
        <translation>so viele wie nötig</translation>
    </message>
    <message>
        <source>Simultaneous answers</source>
        <translation>Gleichzeitige Antworten</translation>
    </message>
    <message>
        <source>How many answers the model writes at the same time, for programs and chats. Each needs memory for a context of its own. Automatic: up to 4, if the memory allows it. A change loads the model again.</source>
        <translation>Wie viele Antworten das Modell gleichzeitig schreibt, für Programme und Chats. Jede braucht Speicher für einen eigenen Kontext. Automatisch: bis zu 4, wenn der Speicher reicht. Eine Änderung lädt das Modell neu.</translation>
    </message>
    <message>
        <source>Faster attention on a GPU. The CPU and smaller cache types always use it.</source>
        <translation>Schnellere Attention auf einer GPU. Der Prozessor und kleinere Cache-Typen nutzen sie immer.</translation>
    </message>
    <message>
        <source>How precisely the draft remembers the conversation; this affects only its proposals. With f16, keys are stored as q8_0 if that was faster on this computer.</source>
        <translation>Wie genau sich das Entwurfsmodell die Unterhaltung merkt; das ändert nur seine Vorschläge. Mit f16 werden die Keys als q8_0 gespeichert, wenn das auf diesem Rechner schneller war.</translation>
    </message>
    <message>
        <source>How tokens are drafted. The mode affects only the speed: the answers are those of the target.</source>
        <translation>Wie Token entworfen werden. Der Modus beeinflusst nur das Tempo: Die Antworten sind die des Zielmodells.</translation>
    </message>
    <message>
        <source>Tokens drafted per pass; 0 is without drafting.</source>
        <translation>Entworfene Token pro Durchlauf; 0 heißt ohne Entwürfe.</translation>
    </message>
    <message>
        <source>Draft from past chats</source>
        <translation>Aus früheren Chats entwerfen</translation>
    </message>
    <message>
        <source>Temperature</source>
        <translation>Temperatur</translation>
    </message>
    <message>
        <source>Higher is more varied; 0 always picks the most likely token.</source>
        <translation>Höher ist abwechslungsreicher; 0 nimmt immer das wahrscheinlichste Token.</translation>
    </message>
    <message>
        <source>Top-k</source>
        <translation>Top-k</translation>
    </message>
    <message>
        <source>Samples from the k most likely tokens only; 0 turns it off.</source>
        <translation>Wählt nur aus den k wahrscheinlichsten Token; 0 schaltet es aus.</translation>
    </message>
    <message>
        <source>Top-p</source>
        <translation>Top-p</translation>
    </message>
    <message>
        <source>Samples from the most likely tokens that together reach this probability; 1 turns it off.</source>
        <translation>Wählt nur aus den wahrscheinlichsten Token, die zusammen diese Wahrscheinlichkeit erreichen; 1 schaltet es aus.</translation>
    </message>
    <message>
        <source>Min-p</source>
        <translation>Min-p</translation>
    </message>
    <message>
        <source>Drops tokens less likely than this fraction of the most likely one; 0 turns it off.</source>
        <translation>Lässt Token weg, die unwahrscheinlicher sind als dieser Anteil des wahrscheinlichsten; 0 schaltet es aus.</translation>
    </message>
    <message>
        <source>Repeat penalty</source>
        <translation>Wiederholungsstrafe</translation>
    </message>
    <message>
        <source>Divides the scores of recent tokens; 1 turns it off.</source>
        <translation>Teilt die Wertung kürzlich verwendeter Token; 1 schaltet die Strafe aus.</translation>
    </message>
    <message>
        <source>Frequency penalty</source>
        <translation>Häufigkeitsstrafe</translation>
    </message>
    <message>
        <source>Lowers a token&apos;s score for each recent appearance; 0 turns it off.</source>
        <translation>Senkt die Wertung eines Tokens für jedes kürzliche Vorkommen; 0 schaltet die Strafe aus.</translation>
    </message>
    <message>
        <source>Presence penalty</source>
        <translation>Vorkommensstrafe</translation>
    </message>
    <message>
        <source>Lowers a token&apos;s score once if it appeared recently; 0 turns it off.</source>
        <translation>Senkt die Wertung eines Tokens einmal, wenn es kürzlich vorkam; 0 schaltet die Strafe aus.</translation>
    </message>
    <message>
        <source>Seed</source>
        <translation>Seed</translation>
    </message>
    <message>
        <source>The same seed gives the same answer to the same messages, in every mode.</source>
        <translation>Derselbe Seed gibt auf dieselben Nachrichten dieselbe Antwort, in jedem Modus.</translation>
    </message>
    <message>
        <source>random</source>
        <translation>zufällig</translation>
    </message>
    <message>
        <source>Maximum length</source>
        <translation>Höchstlänge</translation>
    </message>
    <message>
        <source>An answer stops after this many tokens.</source>
        <translation>Eine Antwort endet nach so vielen Token.</translation>
    </message>
    <message>
        <source>no limit</source>
        <translation>unbegrenzt</translation>
    </message>
    <message>
        <source>System prompt</source>
        <translation>Systemprompt</translation>
    </message>
    <message>
        <source>Instructions for the model before the conversation. Leave empty for none.</source>
        <translation>Anweisungen an das Modell vor der Unterhaltung. Leer: keine.</translation>
    </message>
    <message>
        <source>Whether the model thinks before it answers, and how long. The choices depend on the model.</source>
        <translation>Ob das Modell vor der Antwort nachdenkt, und wie lange. Die Auswahl hängt vom Modell ab.</translation>
    </message>
    <message>
        <source>The model&apos;s default</source>
        <translation>Vorgabe des Modells</translation>
    </message>
    <message>
        <source>Minimal</source>
        <translation>Minimal</translation>
    </message>
    <message>
        <source>Low</source>
        <translation>Wenig</translation>
    </message>
    <message>
        <source>Medium</source>
        <translation>Mittel</translation>
    </message>
    <message>
        <source>High</source>
        <translation>Viel</translation>
    </message>
    <message>
        <source>Very high</source>
        <translation>Sehr viel</translation>
    </message>
    <message>
        <source>Up to 512 tokens</source>
        <translation>Bis zu 512 Token</translation>
    </message>
    <message>
        <source>Up to 2,048 tokens</source>
        <translation>Bis zu 2.048 Token</translation>
    </message>
    <message>
        <source>Up to 8,192 tokens</source>
        <translation>Bis zu 8.192 Token</translation>
    </message>
    <message>
        <source>Prompt format</source>
        <translation>Prompt-Format</translation>
    </message>
    <message>
        <source>Chat: answer the message</source>
        <translation>Chat: die Nachricht beantworten</translation>
    </message>
    <message>
        <source>Text: continue the message</source>
        <translation>Text: die Nachricht fortsetzen</translation>
    </message>
    <message>
        <source>as for the model</source>
        <translation>wie für das Modell</translation>
    </message>
    <message>
        <source>Programs may request any model of your library. It is loaded for them; your own is loaded again with your next message.</source>
        <translation>Programme dürfen jedes Modell Ihrer Bibliothek anfordern. Es wird dafür geladen; mit Ihrer nächsten Nachricht wird wieder Ihres geladen.</translation>
    </message>
    <message>
        <source>None of them uses a network or writes anything.</source>
        <translation>Keines davon nutzt ein Netz oder schreibt etwas.</translation>
    </message>
    <message>
        <source>Tool servers</source>
        <translation>Werkzeugserver</translation>
    </message>
    <message>
        <source>The tool servers that the model may use, out of those switched on in the settings.</source>
        <translation>Die Werkzeugserver, die das Modell nutzen darf, unter den in den Einstellungen eingeschalteten.</translation>
    </message>
    <message>
        <source>Keep tool calls valid</source>
        <translation>Werkzeugaufrufe gültig halten</translation>
    </message>
    <message>
        <source>What a screen reader announces during an answer.</source>
        <translation>Was ein Screenreader während einer Antwort ansagt.</translation>
    </message>
    <message>
        <source>A tool call can then contain only what the tool&apos;s schema allows. Parts that the schema fixes are written at once.</source>
        <translation>Ein Werkzeugaufruf kann dann nur enthalten, was das Schema des Werkzeugs erlaubt. Teile, die das Schema vorgibt, werden sofort geschrieben.</translation>
    </message>
    <message>
        <source>Tools that run without asking, because you always allow them. Delete one to be asked again.</source>
        <translation>Werkzeuge, die ohne Rückfrage laufen, weil Sie sie immer erlauben. Löschen Sie eines, um wieder gefragt zu werden.</translation>
    </message>
    <message>
        <source>Full context</source>
        <translation>Voller Kontext</translation>
    </message>
    <message>
        <source>Leave out the oldest messages</source>
        <translation>Älteste Nachrichten weglassen</translation>
    </message>
    <message>
        <source>Summarise the oldest messages</source>
        <translation>Älteste Nachrichten zusammenfassen</translation>
    </message>
    <message>
        <source>Stop and tell me</source>
        <translation>Stoppen und melden</translation>
    </message>
    <message>
        <source>Saved caches</source>
        <translation>Gespeicherte Caches</translation>
    </message>
    <message>
        <source>MiB</source>
        <translation>MiB</translation>
    </message>
    <message>
        <source>f16</source>
        <translation>f16</translation>
    </message>
    <message>
        <source>q8_0 (half the memory)</source>
        <translation>q8_0 (halber Speicher)</translation>
    </message>
    <message>
        <source>q4_0 (a quarter)</source>
        <translation>q4_0 (ein Viertel)</translation>
    </message>
    <message>
        <source>Appearance</source>
        <translation>Aussehen</translation>
    </message>
    <message>
        <source>Thinking</source>
        <translation>Nachdenken</translation>
    </message>
    <message>
        <source>Template variables</source>
        <translation>Variablen der Chat-Vorlage</translation>
    </message>
    <message>
        <source>Local server</source>
        <translation>Lokaler Server</translation>
    </message>
    <message>
        <source>What happens when a conversation no longer fits the context. You get a notice in any case.</source>
        <translation>Was geschieht, wenn eine Unterhaltung nicht mehr in den Kontext passt. Sie erhalten in jedem Fall einen Hinweis.</translation>
    </message>
    <message>
        <source>Lets editors and other programs use the loaded model while Paceline is open, as they would use OpenAI&apos;s API.</source>
        <translation>Lässt Editoren und andere Programme das geladene Modell wie die API von OpenAI nutzen, solange Paceline geöffnet ist.</translation>
    </message>
    <message>
        <source>Reachable from</source>
        <translation>Erreichbar von</translation>
    </message>
    <message>
        <source>This computer only</source>
        <translation>Nur diesem Rechner</translation>
    </message>
    <message>
        <source>Other computers, too</source>
        <translation>Auch anderen Rechnern</translation>
    </message>
    <message>
        <source>Port</source>
        <translation>Port</translation>
    </message>
    <message>
        <source>Choose another number if a program on this computer uses this one already.</source>
        <translation>Wählen Sie eine andere Nummer, wenn ein Programm auf diesem Rechner diese schon benutzt.</translation>
    </message>
    <message>
        <source>When off, programs on this computer need no key. Web pages are refused all the same, and other computers always need it.</source>
        <translation>Ist das aus, brauchen Programme auf diesem Rechner keinen Schlüssel. Webseiten werden trotzdem abgewiesen, und andere Rechner brauchen ihn immer.</translation>
    </message>
    <message>
        <source>Other names that programs use for this computer, for example from a container; all others are refused.</source>
        <translation>Andere Namen, unter denen Programme diesen Rechner ansprechen, etwa aus Containern; alle übrigen werden abgewiesen.</translation>
    </message>
    <message>
        <source>Built-in tools</source>
        <translation>Eingebaute Werkzeuge</translation>
    </message>
    <message>
        <source>Allowed without asking</source>
        <translation>Ohne Rückfrage erlaubt</translation>
    </message>
    <message>
        <source>Theme</source>
        <translation>Farbschema</translation>
    </message>
    <message>
        <source>Light, dark, or the same as the system.</source>
        <translation>Hell, dunkel oder wie im System eingestellt.</translation>
    </message>
    <message>
        <source>Same as system</source>
        <translation>Wie das System</translation>
    </message>
    <message>
        <source>Light</source>
        <translation>Hell</translation>
    </message>
    <message>
        <source>Dark</source>
        <translation>Dunkel</translation>
    </message>
    <message>
        <source>Text size</source>
        <translation>Textgröße</translation>
    </message>
    <message>
        <source>Size of all text in the window, relative to the system&apos;s.</source>
        <translation>Größe aller Texte im Fenster, ausgehend von der des Systems.</translation>
    </message>
    <message>
        <source>Small</source>
        <translation>Klein</translation>
    </message>
    <message>
        <source>Large</source>
        <translation>Groß</translation>
    </message>
    <message>
        <source>Larger</source>
        <translation>Größer</translation>
    </message>
    <message>
        <source>Screen reader</source>
        <translation>Screenreader</translation>
    </message>
    <message>
        <source>All, with the answer</source>
        <translation>Alles, mit der Antwort</translation>
    </message>
    <message>
        <source>Beginnings and endings</source>
        <translation>Anfang und Ende</translation>
    </message>
    <message>
        <source>Nothing</source>
        <translation>Nichts</translation>
    </message>
    <message>
        <source>Language</source>
        <translation>Sprache</translation>
    </message>
    <message>
        <source>Language of the window. A change takes effect at the next start.</source>
        <translation>Sprache des Fensters. Eine Änderung wirkt ab dem nächsten Start.</translation>
    </message>
    <message>
        <source>English</source>
        <translation>English</translation>
    </message>
    <message>
        <source>Deutsch</source>
        <translation>Deutsch</translation>
    </message>
</context>
<context>
    <name>SettingsDialog</name>
    <message>
        <source>Settings</source>
        <translation>Einstellungen</translation>
    </message>
    <message>
        <source>Sections</source>
        <translation>Bereiche</translation>
    </message>
    <message>
        <source>Search settings</source>
        <translation>Einstellungen durchsuchen</translation>
    </message>
    <message>
        <source>Search</source>
        <translation>Suchen</translation>
    </message>
    <message>
        <source>Save</source>
        <translation>Speichern</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>Abbrechen</translation>
    </message>
    <message>
        <source>Restore defaults</source>
        <translation>Auf Standard zurücksetzen</translation>
    </message>
    <message>
        <source>Resets every setting; nothing is saved until you click Save</source>
        <translation>Setzt alle Einstellungen zurück; gespeichert wird erst mit „Speichern“</translation>
    </message>
</context>
<context>
    <name>ShortcutsDialog</name>
    <message>
        <source>Keyboard shortcuts</source>
        <translation>Tastenkürzel</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Schließen</translation>
    </message>
</context>
<context>
    <name>Sidebar</name>
    <message>
        <source>Folders, import and export</source>
        <translation>Ordner, Import und Export</translation>
    </message>
    <message>
        <source> Models</source>
        <translation> Modelle</translation>
    </message>
    <message>
        <source> Race</source>
        <translation> Rennen</translation>
    </message>
    <message>
        <source> Server</source>
        <translation> Server</translation>
    </message>
    <message>
        <source> Settings</source>
        <translation> Einstellungen</translation>
    </message>
    <message>
        <source>Hide the sidebar</source>
        <translation>Seitenleiste ausblenden</translation>
    </message>
    <message>
        <source>Start a new chat</source>
        <translation>Neuen Chat beginnen</translation>
    </message>
    <message>
        <source>Find and download models</source>
        <translation>Modelle finden und herunterladen</translation>
    </message>
    <message>
        <source>Let editors and other programs use the model</source>
        <translation>Editoren und andere Programme das Modell nutzen lassen</translation>
    </message>
    <message>
        <source>Open the settings</source>
        <translation>Einstellungen öffnen</translation>
    </message>
    <message>
        <source>New chat</source>
        <translation>Neuer Chat</translation>
    </message>
    <message>
        <source>Race answers with and without drafting, side by side</source>
        <translation>Antworten mit und ohne Entwürfe im Rennen, nebeneinander</translation>
    </message>
    <message>
        <source>Search chats</source>
        <translation>Chats durchsuchen</translation>
    </message>
    <message>
        <source>Searches titles, messages and attachments.</source>
        <translation>Durchsucht Titel, Nachrichten und Anhänge.</translation>
    </message>
    <message>
        <source>No chats found.</source>
        <translation>Keine Chats gefunden.</translation>
    </message>
    <message>
        <source>Your chats will appear here.</source>
        <translation>Ihre Chats erscheinen hier.</translation>
    </message>
</context>
<context>
    <name>SourceDialog</name>
    <message>
        <source>Source {number}</source>
        <translation>Quelle {number}</translation>
    </message>
    <message>
        <source>Text of the document</source>
        <translation>Text des Dokuments</translation>
    </message>
    <message>
        <source>The model was given this passage. It is marked in the text of its document.</source>
        <translation>Diese Stelle wurde dem Modell mitgegeben. Sie ist im Text ihres Dokuments markiert.</translation>
    </message>
    <message>
        <source>The model was given this passage. Its document has changed since, or is not in the project any more.</source>
        <translation>Diese Stelle wurde dem Modell mitgegeben. Ihr Dokument hat sich seitdem geändert oder gehört nicht mehr zum Projekt.</translation>
    </message>
    <message>
        <source>Open the file</source>
        <translation>Datei öffnen</translation>
    </message>
    <message>
        <source>Copy the passage</source>
        <translation>Stelle kopieren</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Schließen</translation>
    </message>
</context>
<context>
    <name>SourceSwitch</name>
    <message>
        <source>Mark tokens by source</source>
        <translation>Token nach Herkunft markieren</translation>
    </message>
</context>
<context>
    <name>SpaceController</name>
    <message>
        <source>The disk with {folder} is nearly full. Free some space, or Paceline will soon be unable to save anything.</source>
        <translation>Das Laufwerk mit {folder} ist fast voll. Schaffen Sie Platz, sonst kann Paceline bald nichts mehr speichern.</translation>
    </message>
</context>
<context>
    <name>SpeedVerdict</name>
    <message>
        <source>There is nothing to compare yet.</source>
        <translation>Es gibt noch nichts zu vergleichen.</translation>
    </message>
    <message>
        <source>The answer repeated itself at the end, so its speed is not counted.</source>
        <translation>Die Antwort hat sich am Ende wiederholt; ihr Tempo zählt daher nicht.</translation>
    </message>
    <message>
        <source>Nothing was drafted in this answer.</source>
        <translation>In dieser Antwort wurde nichts entworfen.</translation>
    </message>
    <message>
        <source>This answer is too short to compare its speed.</source>
        <translation>Diese Antwort ist zu kurz, um ihr Tempo zu vergleichen.</translation>
    </message>
    <message>
        <source>Other answers were written at the same time, so the speed is not compared.</source>
        <translation>Gleichzeitig wurden andere Antworten geschrieben, daher wird das Tempo nicht verglichen.</translation>
    </message>
    <message>
        <source>The speed without drafting is not known well enough to compare.</source>
        <translation>Das Tempo ohne Entwürfe ist für einen Vergleich nicht genau genug bekannt.</translation>
    </message>
    <message>
        <source>No drafted token was accepted, so drafting did not make this answer faster.</source>
        <translation>Kein entworfenes Token wurde akzeptiert, also haben Entwürfe diese Antwort nicht beschleunigt.</translation>
    </message>
    <message>
        <source>About the same speed</source>
        <translation>Etwa gleich schnell</translation>
    </message>
    <message>
        <source>{times} faster</source>
        <translation>{times} schneller</translation>
    </message>
    <message>
        <source>{times} slower</source>
        <translation>{times} langsamer</translation>
    </message>
    <message>
        <source>Compared as soon as the speed without drafting is known well enough.</source>
        <translation>Wird verglichen, sobald das Tempo ohne Entwürfe genau genug bekannt ist.</translation>
    </message>
    <message>
        <source>Without drafting: {low} to {high} tok/s, estimated from the last minutes.</source>
        <translation>Ohne Entwürfe: {low} bis {high} Tok/s, geschätzt nach den letzten Minuten.</translation>
    </message>
    <message>
        <source>The draft model read the prompt in {time}, which is not counted here.</source>
        <translation>Das Entwurfsmodell las die Eingabe in {time}; das zählt hier nicht mit.</translation>
    </message>
</context>
<context>
    <name>StackedBar</name>
    <message>
        <source>No values yet</source>
        <translation>Noch keine Werte</translation>
    </message>
</context>
<context>
    <name>StatsDialogs</name>
    <message>
        <source>Reset…</source>
        <translation>Zurücksetzen …</translation>
    </message>
    <message>
        <source>Reset the totals?</source>
        <translation>Gesamtsummen zurücksetzen?</translation>
    </message>
    <message>
        <source>The all-time totals will be deleted permanently. Your chats and their statistics are kept.</source>
        <translation>Die Gesamtsummen werden endgültig gelöscht. Ihre Chats und deren Statistik bleiben.</translation>
    </message>
    <message>
        <source>Reset</source>
        <translation>Zurücksetzen</translation>
    </message>
</context>
<context>
    <name>StatsPanel</name>
    <message>
        <source>Share of the drafted tokens that the target accepted, and how many were drafted.</source>
        <translation>Anteil der entworfenen Token, die das Zielmodell akzeptierte, und wie viele entworfen wurden.</translation>
    </message>
    <message>
        <source>speed-up</source>
        <translation>Beschleunigung</translation>
    </message>
    <message>
        <source>Acceptance by position</source>
        <translation>Akzeptanz nach Position</translation>
    </message>
    <message>
        <source>Time saved</source>
        <translation>Gesparte Zeit</translation>
    </message>
    <message>
        <source>Estimated tokens per second of this answer without drafting.</source>
        <translation>Geschätzte Token pro Sekunde dieser Antwort ohne Entwürfe.</translation>
    </message>
    <message>
        <source>Tokens per pass of the target. Without drafting it is exactly 1.</source>
        <translation>Token pro Durchlauf des Zielmodells. Ohne Entwürfe ist es genau 1.</translation>
    </message>
    <message>
        <source>Share of the tokens drafted at this position of a pass that the target accepted.</source>
        <translation>Anteil der an dieser Stelle eines Durchlaufs entworfenen Token, den das Zielmodell akzeptiert hat.</translation>
    </message>
    <message>
        <source>Time from the start of the request to the first token, reading the prompt included.</source>
        <translation>Zeit vom Beginn der Anfrage bis zum ersten Token, das Lesen der Eingabe mitgezählt.</translation>
    </message>
    <message>
        <source>Tokens of the prompt, and how many of them were still in the cache.</source>
        <translation>Token der Eingabe und wie viele davon noch im Cache waren.</translation>
    </message>
    <message>
        <source>The time of a pass by step, measured around each step and added up.</source>
        <translation>Die Zeit eines Durchlaufs nach Schritten: jeder Schritt gemessen, dann summiert.</translation>
    </message>
    <message>
        <source>Sources of the tokens</source>
        <translation>Herkunft der Token</translation>
    </message>
    <message>
        <source>The source of each token.</source>
        <translation>Die Herkunft jedes Tokens.</translation>
    </message>
    <message>
        <source>Why the engine drafts the way it does now. Earlier reasons in this answer:</source>
        <translation>Warum gerade so entworfen wird. Frühere Gründe in dieser Antwort:</translation>
    </message>
    <message>
        <source>Draft</source>
        <translation>Entwurf</translation>
    </message>
    <message>
        <source>Proposed by the draft model and accepted by the target.</source>
        <translation>Vom Entwurfsmodell vorgeschlagen und vom Zielmodell akzeptiert.</translation>
    </message>
    <message>
        <source>Proposed by a head (MTP or EAGLE-3) and accepted by the target.</source>
        <translation>Von einem Kopf (MTP oder EAGLE-3) vorgeschlagen und vom Zielmodell akzeptiert.</translation>
    </message>
    <message>
        <source>N-gram</source>
        <translation>N-Gramm</translation>
    </message>
    <message>
        <source>Proposed from earlier text of this conversation and accepted by the target.</source>
        <translation>Aus früherem Text dieser Unterhaltung vorgeschlagen und vom Zielmodell akzeptiert.</translation>
    </message>
    <message>
        <source>Sampled by the target in place of a rejected token.</source>
        <translation>Vom Zielmodell anstelle eines abgelehnten Tokens gewählt.</translation>
    </message>
    <message>
        <source>The extra token of a pass in which every drafted token was accepted.</source>
        <translation>Das zusätzliche Token eines Durchlaufs, in dem alle entworfenen Token akzeptiert wurden.</translation>
    </message>
    <message>
        <source>Target</source>
        <translation>Zielmodell</translation>
    </message>
    <message>
        <source>Sampled by the target alone; nothing was drafted.</source>
        <translation>Vom Zielmodell allein gewählt, es war nichts entworfen.</translation>
    </message>
    <message>
        <source>Verify</source>
        <translation>Prüfen</translation>
    </message>
    <message>
        <source>Sample</source>
        <translation>Sampling</translation>
    </message>
    <message>
        <source>Rest</source>
        <translation>Rest</translation>
    </message>
    <message>
        <source>All time</source>
        <translation>Gesamt</translation>
    </message>
    <message>
        <source>Statistics of</source>
        <translation>Statistik von</translation>
    </message>
    <message>
        <source>Statistics: {page}</source>
        <translation>Statistik: {page}</translation>
    </message>
    <message>
        <source>Statistics</source>
        <translation>Statistik</translation>
    </message>
    <message>
        <source>The last answer failed before its first word, so it has no statistics.</source>
        <translation>Die letzte Antwort ist vor ihrem ersten Wort gescheitert und hat daher keine Statistik.</translation>
    </message>
    <message>
        <source>The rows come from different questions. A race compares modes on the same question.</source>
        <translation>Die Zeilen stammen von verschiedenen Fragen. Ein Rennen vergleicht Modi an derselben Frage.</translation>
    </message>
    <message>
        <source>Statistics of all time</source>
        <translation>Gesamtstatistik</translation>
    </message>
    <message>
        <source>Nothing counted yet. The totals remain even when chats are deleted.</source>
        <translation>Es wurde noch nichts gezählt. Die Summen bleiben, auch wenn Chats gelöscht werden.</translation>
    </message>
    <message>
        <source>How much faster this answer was than it would have been without drafting, or its tokens per second if that is not certain. The speed without drafting is estimated from passes without a draft, in this answer and in the last minutes, with the context equally full. Shown from 64 tokens on.</source>
        <translation>Wie viel schneller diese Antwort war, als sie ohne Entwürfe gewesen wäre, oder Token pro Sekunde, wenn das nicht sicher ist. Das Tempo ohne Entwürfe wird aus Durchläufen ohne Entwurf geschätzt, in dieser Antwort und in den letzten Minuten, bei ebenso vollem Kontext. Wird ab 64 Token angezeigt.</translation>
    </message>
    <message>
        <source>{times} the speed without drafting</source>
        <translation>{times} so schnell wie ohne Entwürfe</translation>
    </message>
    <message>
        <source>no answer yet</source>
        <translation>noch keine Antwort</translation>
    </message>
    <message>
        <source>tok/s</source>
        <translation>Tok/s</translation>
    </message>
    <message>
        <source>tokens per pass</source>
        <translation>Token/Durchlauf</translation>
    </message>
    <message>
        <source>Accepted</source>
        <translation>Akzeptiert</translation>
    </message>
    <message>
        <source>Why it drafts this way</source>
        <translation>Warum so entworfen wird</translation>
    </message>
    <message>
        <source>Tokens</source>
        <translation>Token</translation>
    </message>
    <message>
        <source>Passes</source>
        <translation>Durchläufe</translation>
    </message>
    <message>
        <source>First token</source>
        <translation>Erstes Token</translation>
    </message>
    <message>
        <source>Between tokens, p50</source>
        <translation>Zwischen Token, p50</translation>
    </message>
    <message>
        <source>Between tokens, p95</source>
        <translation>Zwischen Token, p95</translation>
    </message>
    <message>
        <source>Between tokens, p99</source>
        <translation>Zwischen Token, p99</translation>
    </message>
    <message>
        <source>Prompt</source>
        <translation>Eingabe</translation>
    </message>
    <message>
        <source>Time of a pass</source>
        <translation>Zeit eines Durchlaufs</translation>
    </message>
    <message>
        <source>Statistics of this answer</source>
        <translation>Statistik dieser Antwort</translation>
    </message>
    <message>
        <source>No answer yet. Its statistics will appear here.</source>
        <translation>Noch keine Antwort. Hier erscheint dann ihre Statistik.</translation>
    </message>
    <message>
        <source>Speed</source>
        <translation>Tempo</translation>
    </message>
    <message>
        <source>Acceptance</source>
        <translation>Akzeptanz</translation>
    </message>
    <message>
        <source>This answer</source>
        <translation>Diese Antwort</translation>
    </message>
    <message>
        <source>Memory</source>
        <translation>Arbeitsspeicher</translation>
    </message>
    <message>
        <source>Token {place} · {reason}</source>
        <translation>Token {place} · {reason}</translation>
    </message>
    <message>
        <source>Why</source>
        <translation>Warum</translation>
    </message>
    <message>
        <source>live</source>
        <translation>live</translation>
    </message>
    <message>
        <source>last answer</source>
        <translation>letzte Antwort</translation>
    </message>
    <message>
        <source>The time of a pass is spread over its tokens.</source>
        <translation>Die Zeit eines Durchlaufs ist auf seine Token verteilt.</translation>
    </message>
    <message>
        <source>Over several answers it is accurate to within 2%; answers without recorded times are left out.</source>
        <translation>Über mehrere Antworten ist der Wert auf 2 % genau; Antworten ohne gemessene Zeiten fehlen.</translation>
    </message>
    <message>
        <source>Without drafting</source>
        <translation>Ohne Entwürfe</translation>
    </message>
    <message>
        <source>answers</source>
        <translation>Antworten</translation>
    </message>
    <message>
        <source>Time spent</source>
        <translation>Aufgewandte Zeit</translation>
    </message>
    <message>
        <source>By models and mode</source>
        <translation>Nach Modellen und Modus</translation>
    </message>
    <message>
        <source>Tokens per second of this answer.</source>
        <translation>Token pro Sekunde in dieser Antwort.</translation>
    </message>
    <message>
        <source>Tokens per second, measured from the end of reading the prompt to the last token.</source>
        <translation>Token pro Sekunde, vom Ende des Lesens der Eingabe bis zum letzten Token.</translation>
    </message>
    <message>
        <source>How many times as fast as without drafting, over all answers that can be compared. Long answers count more.</source>
        <translation>Wie viel Mal so schnell wie ohne Entwürfe, über alle Antworten, die sich vergleichen lassen. Lange Antworten zählen mehr.</translation>
    </message>
    <message>
        <source>Answers with at least one token, including stopped and regenerated ones.</source>
        <translation>Antworten mit mindestens einem Token, auch gestoppte und neu erzeugte.</translation>
    </message>
    <message>
        <source>Tokens generated, including the end-of-answer token.</source>
        <translation>Ausgegebene Token, das Endetoken mitgezählt.</translation>
    </message>
    <message>
        <source>Forward passes of the target.</source>
        <translation>Durchläufe des Zielmodells.</translation>
    </message>
    <message>
        <source>Half of the tokens came faster than this.</source>
        <translation>Die Hälfte der Token kam schneller.</translation>
    </message>
    <message>
        <source>19 of 20 tokens came faster than this.</source>
        <translation>19 von 20 Token kamen schneller.</translation>
    </message>
    <message>
        <source>99 of 100 tokens came faster than this.</source>
        <translation>99 von 100 Token kamen schneller.</translation>
    </message>
    <message>
        <source>Time from the end of reading the prompts to the last tokens, all answers together.</source>
        <translation>Zeit vom Ende des Lesens der Eingaben bis zu den letzten Token, alle Antworten zusammen.</translation>
    </message>
    <message>
        <source>Time saved compared with the same answers without drafting. A minus means that they took longer.</source>
        <translation>Zeit, die gegenüber denselben Antworten ohne Entwürfe gespart wurde. Ein Minus heißt, dass sie länger dauerten.</translation>
    </message>
    <message>
        <source>Tokens per second and speed-up of each pair of models in each mode. Long answers count more than short ones.</source>
        <translation>Token pro Sekunde und Beschleunigung jedes Modellpaars in jedem Modus. Lange Antworten zählen mehr als kurze.</translation>
    </message>
    <message>
        <source>As llama.cpp reported it when it loaded the model.</source>
        <translation>Wie von llama.cpp beim Laden des Modells gemeldet.</translation>
    </message>
    <message>
        <source>Memory of the target: weights, cache of the conversation at full length, and compute buffers.</source>
        <translation>Speicher des Zielmodells: Gewichte, Cache der Unterhaltung in voller Länge und Rechenpuffer.</translation>
    </message>
    <message>
        <source>Memory of the draft model: weights, cache of the conversation at full length, and compute buffers.</source>
        <translation>Speicher des Entwurfsmodells: Gewichte, Cache der Unterhaltung in voller Länge und Rechenpuffer.</translation>
    </message>
    <message>
        <source>Head</source>
        <translation>Kopf</translation>
    </message>
    <message>
        <source>Recovered (after a rejection)</source>
        <translation>Ersetzt (nach Ablehnung)</translation>
    </message>
    <message>
        <source>Bonus (all were accepted)</source>
        <translation>Bonus (alle akzeptiert)</translation>
    </message>
    <message>
        <source>Share of the time spent drafting tokens.</source>
        <translation>Anteil der Zeit, in der Token entworfen wurden.</translation>
    </message>
    <message>
        <source>Share of the time spent on passes of the target.</source>
        <translation>Anteil der Zeit, in der das Zielmodell seine Durchläufe rechnete.</translation>
    </message>
    <message>
        <source>Share of the time spent sampling tokens and checking drafted ones.</source>
        <translation>Anteil der Zeit, in der Token gewählt und entworfene geprüft wurden.</translation>
    </message>
    <message>
        <source>Share of the time spent on everything else, such as rollback and text.</source>
        <translation>Anteil der Zeit für alles Übrige, etwa Zurücknehmen und Text.</translation>
    </message>
    <message>
        <source>{tokens} tokens ({cached} cached)</source>
        <translation>{tokens} Token ({cached} im Cache)</translation>
    </message>
    <message>
        <source>Model not recorded</source>
        <translation>Modell nicht vermerkt</translation>
    </message>
    <message>
        <source>without a draft model</source>
        <translation>ohne Entwurfsmodell</translation>
    </message>
    <message>
        <source>with {draft}</source>
        <translation>mit {draft}</translation>
    </message>
    <message>
        <source>{number} tokens per second</source>
        <translation>{number} Token pro Sekunde</translation>
    </message>
    <message>
        <source>{number} tokens per pass</source>
        <translation>{number} Token pro Durchlauf</translation>
    </message>
    <message>
        <source>{share} drafted tokens accepted</source>
        <translation>{share} entworfene Token akzeptiert</translation>
    </message>
    <message>
        <source>Together</source>
        <translation>Zusammen</translation>
    </message>
</context>
<context>
    <name>SuggestionCard</name>
    <message>
        <source>Fits this computer</source>
        <translation>Passt auf diesen Rechner</translation>
    </message>
    <message>
        <source>{weight} to download</source>
        <translation>{weight} herunterzuladen</translation>
    </message>
    <message>
        <source>already downloaded</source>
        <translation>schon heruntergeladen</translation>
    </message>
    <message>
        <source>Licence {licence}</source>
        <translation>Lizenz {licence}</translation>
    </message>
    <message>
        <source>Download and chat</source>
        <translation>Herunterladen und chatten</translation>
    </message>
    <message>
        <source>Chat</source>
        <translation>Chat</translation>
    </message>
    <message>
        <source>Chat with {name}</source>
        <translation>Mit {name} chatten</translation>
    </message>
    <message>
        <source>Download {name} and chat</source>
        <translation>{name} herunterladen und chatten</translation>
    </message>
</context>
<context>
    <name>SummaryLine</name>
    <message>
        <source>Summary</source>
        <translation>Zusammenfassung</translation>
    </message>
    <message>
        <source>Undo</source>
        <translation>Rückgängig</translation>
    </message>
    <message>
        <source>Send the original messages again, as far as they fit</source>
        <translation>Wieder die ursprünglichen Nachrichten senden, soweit sie passen</translation>
    </message>
    <message>
        <source>Undo the summary</source>
        <translation>Zusammenfassung rückgängig machen</translation>
    </message>
    <message>
        <source>Skip</source>
        <translation>Überspringen</translation>
    </message>
    <message>
        <source>Answer without a summary; the oldest messages are left out</source>
        <translation>Ohne Zusammenfassung antworten; die ältesten Nachrichten werden weggelassen</translation>
    </message>
    <message>
        <source>Skip the summary</source>
        <translation>Zusammenfassung überspringen</translation>
    </message>
    <message>
        <source>The messages above are sent as this summary</source>
        <translation>Die Nachrichten darüber werden als diese Zusammenfassung gesendet</translation>
    </message>
    <message>
        <source>reading {done} of {total} tokens</source>
        <translation>liest {done} von {total} Token</translation>
    </message>
    <message>
        <source>Hide</source>
        <translation>Ausblenden</translation>
    </message>
    <message>
        <source>Show</source>
        <translation>Zeigen</translation>
    </message>
    <message>
        <source>Hide the summary</source>
        <translation>Zusammenfassung ausblenden</translation>
    </message>
    <message>
        <source>Show the summary</source>
        <translation>Zusammenfassung zeigen</translation>
    </message>
    <message numerus="yes">
        <source>Summarising the %n oldest messages</source>
        <translation>
            <numerusform>Die älteste Nachricht wird zusammengefasst</numerusform>
            <numerusform>Die %n ältesten Nachrichten werden zusammengefasst</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n words</source>
        <translation>
            <numerusform>%n Wort</numerusform>
            <numerusform>%n Wörter</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>SwitchRow</name>
    <message>
        <source>On</source>
        <translation>An</translation>
    </message>
</context>
<context>
    <name>Text</name>
    <message>
        <source>Edit your message</source>
        <translation>Ihre Nachricht bearbeiten</translation>
    </message>
</context>
<context>
    <name>TextLineRow</name>
    <message>
        <source>For example {example}</source>
        <translation>Zum Beispiel {example}</translation>
    </message>
</context>
<context>
    <name>TextRow</name>
    <message>
        <source>At most {number} characters.</source>
        <translation>Höchstens {number} Zeichen.</translation>
    </message>
</context>
<context>
    <name>Thinking</name>
    <message>
        <source>Off</source>
        <translation>Aus</translation>
    </message>
    <message>
        <source>On</source>
        <translation>An</translation>
    </message>
    <message>
        <source>As needed</source>
        <translation>Nach Bedarf</translation>
    </message>
    <message>
        <source>Minimal</source>
        <translation>Minimal</translation>
    </message>
    <message>
        <source>Low</source>
        <translation>Wenig</translation>
    </message>
    <message>
        <source>Medium</source>
        <translation>Mittel</translation>
    </message>
    <message>
        <source>High</source>
        <translation>Viel</translation>
    </message>
    <message>
        <source>Very high</source>
        <translation>Sehr viel</translation>
    </message>
    <message>
        <source>Maximum</source>
        <translation>Maximal</translation>
    </message>
    <message>
        <source>Answers at once</source>
        <translation>Antwortet sofort</translation>
    </message>
    <message>
        <source>Reasons before it answers</source>
        <translation>Denkt vor der Antwort nach</translation>
    </message>
    <message>
        <source>Decides by the question</source>
        <translation>Entscheidet je nach Frage</translation>
    </message>
    <message>
        <source>Hardly reasons</source>
        <translation>Denkt kaum nach</translation>
    </message>
    <message>
        <source>Reasons briefly</source>
        <translation>Denkt kurz nach</translation>
    </message>
    <message>
        <source>Reasons for a while</source>
        <translation>Denkt eine Weile nach</translation>
    </message>
    <message>
        <source>Reasons at length</source>
        <translation>Denkt lange nach</translation>
    </message>
    <message>
        <source>Reasons at great length</source>
        <translation>Denkt sehr lange nach</translation>
    </message>
    <message>
        <source>Reasons for as long as it can</source>
        <translation>Denkt nach, solange es kann</translation>
    </message>
    <message>
        <source>Up to {number} tokens</source>
        <translation>Bis zu {number} Token</translation>
    </message>
    <message>
        <source>Reasons up to this length</source>
        <translation>Denkt höchstens so lange nach</translation>
    </message>
</context>
<context>
    <name>ThinkingButton</name>
    <message>
        <source>How the model thinks</source>
        <translation>Wie das Modell nachdenkt</translation>
    </message>
    <message>
        <source>Thinking: {name}</source>
        <translation>Nachdenken: {name}</translation>
    </message>
    <message>
        <source>Thinking: {name}. {line}.</source>
        <translation>Nachdenken: {name}. {line}.</translation>
    </message>
    <message>
        <source>usual</source>
        <translation>üblich</translation>
    </message>
    <message>
        <source>in use</source>
        <translation>in Gebrauch</translation>
    </message>
</context>
<context>
    <name>TokenBox</name>
    <message>
        <source>The token is stored in the system&apos;s keyring and sent only to the hub.</source>
        <translation>Das Token wird im Schlüsselbund des Systems gespeichert und nur an den Hub gesendet.</translation>
    </message>
    <message>
        <source>This model is gated</source>
        <translation>Dieses Modell ist zugangsbeschränkt</translation>
    </message>
    <message>
        <source>Access token (hf_…)</source>
        <translation>Zugangstoken (hf_…)</translation>
    </message>
    <message>
        <source>Access token</source>
        <translation>Zugangstoken</translation>
    </message>
    <message>
        <source>Use this token</source>
        <translation>Dieses Token verwenden</translation>
    </message>
    <message>
        <source>Open the model&apos;s page</source>
        <translation>Seite des Modells öffnen</translation>
    </message>
    <message>
        <source>Forget the token</source>
        <translation>Token vergessen</translation>
    </message>
</context>
<context>
    <name>ToolCard</name>
    <message>
        <source>Waiting for the call before it</source>
        <translation>Wartet auf den Aufruf davor</translation>
    </message>
    <message>
        <source>Waiting for you</source>
        <translation>Wartet auf Sie</translation>
    </message>
    <message>
        <source>Running</source>
        <translation>Läuft</translation>
    </message>
    <message>
        <source>Done</source>
        <translation>Fertig</translation>
    </message>
    <message>
        <source>Failed</source>
        <translation>Fehlgeschlagen</translation>
    </message>
    <message>
        <source>Refused</source>
        <translation>Abgelehnt</translation>
    </message>
    <message>
        <source>Stopped</source>
        <translation>Gestoppt</translation>
    </message>
    <message>
        <source>Was not finished</source>
        <translation>Nicht abgeschlossen</translation>
    </message>
    <message>
        <source>This call was not run: it is not valid, or the tool does not exist.</source>
        <translation>Dieser Aufruf wurde nicht ausgeführt: Er ist ungültig, oder das Werkzeug gibt es nicht.</translation>
    </message>
    <message>
        <source>Allow once</source>
        <translation>Einmal erlauben</translation>
    </message>
    <message>
        <source>Allow in this chat</source>
        <translation>In diesem Chat erlauben</translation>
    </message>
    <message>
        <source>Always allow</source>
        <translation>Immer erlauben</translation>
    </message>
    <message>
        <source>Copy result</source>
        <translation>Ergebnis kopieren</translation>
    </message>
    <message>
        <source>Tool call</source>
        <translation>Werkzeugaufruf</translation>
    </message>
    <message>
        <source>Tell the model why (optional)</source>
        <translation>Dem Modell sagen, warum (optional)</translation>
    </message>
    <message>
        <source>{count} more characters were left out.</source>
        <translation>{count} weitere Zeichen wurden weggelassen.</translation>
    </message>
    <message>
        <source>Show less</source>
        <translation>Weniger zeigen</translation>
    </message>
    <message>
        <source>Sent to the model</source>
        <translation>An das Modell gesendet</translation>
    </message>
    <message>
        <source>Show details</source>
        <translation>Einzelheiten zeigen</translation>
    </message>
    <message>
        <source>Show all</source>
        <translation>Alles zeigen</translation>
    </message>
    <message>
        <source>Arguments</source>
        <translation>Argumente</translation>
    </message>
    <message>
        <source>Result</source>
        <translation>Ergebnis</translation>
    </message>
    <message>
        <source>Running for {seconds} s</source>
        <translation>Läuft seit {seconds} s</translation>
    </message>
    <message>
        <source>Done in {time}</source>
        <translation>Fertig in {time}</translation>
    </message>
    <message>
        <source>Call of {tool} of {server}. {status}.</source>
        <translation>Aufruf von {tool} von {server}. {status}.</translation>
    </message>
    <message>
        <source>Refuse…</source>
        <translation>Ablehnen …</translation>
    </message>
    <message>
        <source>Reason for the refusal</source>
        <translation>Grund der Ablehnung</translation>
    </message>
    <message>
        <source>Refuse</source>
        <translation>Ablehnen</translation>
    </message>
    <message>
        <source>Run it again</source>
        <translation>Noch einmal ausführen</translation>
    </message>
    <message>
        <source>This call was not finished, and may have had an effect. Run it again?</source>
        <translation>Dieser Aufruf wurde nicht abgeschlossen und hatte vielleicht eine Wirkung. Noch einmal ausführen?</translation>
    </message>
    <message>
        <source>Arguments and result</source>
        <translation>Argumente und Ergebnis</translation>
    </message>
    <message>
        <source>{count} more lines are not shown here. Copy the result to have them all.</source>
        <translation>{count} weitere Zeilen sind hier nicht zu sehen. Wird das Ergebnis kopiert, sind alle dabei.</translation>
    </message>
</context>
<context>
    <name>ToolController</name>
    <message>
        <source>its chat template does not support tools</source>
        <translation>seine Chat-Vorlage unterstützt keine Werkzeuge</translation>
    </message>
    <message>
        <source>Stopped after {count} answers with tool calls. Send a message to continue.</source>
        <translation>Nach {count} Antworten mit Werkzeugaufrufen gestoppt. Senden Sie eine Nachricht, um fortzufahren.</translation>
    </message>
    <message>
        <source>The model wrote {count} invalid tool calls in a row, so the answer ends here. Ask again, or try another model.</source>
        <translation>Das Modell hat {count} ungültige Werkzeugaufrufe hintereinander geschrieben, daher endet die Antwort hier. Fragen Sie noch einmal, oder versuchen Sie ein anderes Modell.</translation>
    </message>
    <message>
        <source>This model cannot use tools: {reason}.</source>
        <translation>Dieses Modell kann keine Werkzeuge verwenden: {reason}.</translation>
    </message>
    <message>
        <source>The chat has continued since this call. Ask the model to call the tool again.</source>
        <translation>Seit diesem Aufruf ging der Chat weiter. Bitten Sie das Modell, das Werkzeug noch einmal aufzurufen.</translation>
    </message>
    <message>
        <source>This tool is no longer available. Switch on the tool or its server in the settings.</source>
        <translation>Dieses Werkzeug ist nicht mehr verfügbar. Schalten Sie es oder seinen Server in den Einstellungen ein.</translation>
    </message>
</context>
<context>
    <name>ToolProviders</name>
    <message>
        <source>You can close this page now, and go back to Paceline.</source>
        <translation>Sie können diese Seite jetzt schließen und zu Paceline zurückkehren.</translation>
    </message>
</context>
<context>
    <name>ToolServers</name>
    <message>
        <source>Off</source>
        <translation>Aus</translation>
    </message>
    <message>
        <source>Starting</source>
        <translation>Startet</translation>
    </message>
    <message>
        <source>Ready</source>
        <translation>Bereit</translation>
    </message>
    <message>
        <source>Failed</source>
        <translation>Fehlgeschlagen</translation>
    </message>
    <message>
        <source>Sign in…</source>
        <translation>Anmelden …</translation>
    </message>
    <message>
        <source>Stop signing in</source>
        <translation>Anmelden abbrechen</translation>
    </message>
    <message>
        <source>Sign out</source>
        <translation>Abmelden</translation>
    </message>
    <message>
        <source>Servers (MCP)</source>
        <translation>Server (MCP)</translation>
    </message>
    <message>
        <source>Command or URL, such as uvx mcp-server-time</source>
        <translation>Befehl oder URL, etwa uvx mcp-server-time</translation>
    </message>
    <message>
        <source>Add</source>
        <translation>Hinzufügen</translation>
    </message>
    <message>
        <source>Add a tool server</source>
        <translation>Einen Werkzeugserver hinzufügen</translation>
    </message>
    <message>
        <source>Sign in to “{name}” on this page. Your browser will open it.</source>
        <translation>Melden Sie sich auf dieser Seite bei „{name}“ an. Ihr Browser öffnet sie.</translation>
    </message>
    <message>
        <source>Restart {name}</source>
        <translation>{name} neu starten</translation>
    </message>
    <message>
        <source>Remove {name}</source>
        <translation>{name} entfernen</translation>
    </message>
    <message numerus="yes">
        <source>%n tools</source>
        <translation>
            <numerusform>%n Werkzeug</numerusform>
            <numerusform>%n Werkzeuge</numerusform>
        </translation>
    </message>
    <message>
        <source>Tools and log</source>
        <translation>Werkzeuge und Protokoll</translation>
    </message>
    <message>
        <source>Tools and log of {name}</source>
        <translation>Werkzeuge und Protokoll von {name}</translation>
    </message>
    <message>
        <source>(nothing)</source>
        <translation>(nichts)</translation>
    </message>
    <message>
        <source>No server yet. Add a program or an address below, or paste the mcp.json of another app.</source>
        <translation>Noch kein Server. Fügen Sie unten ein Programm oder eine Adresse hinzu, oder fügen Sie die mcp.json eines anderen Programms ein.</translation>
    </message>
    <message>
        <source>Command, URL or mcp.json of a server</source>
        <translation>Befehl, URL oder mcp.json eines Servers</translation>
    </message>
    <message>
        <source>Tools</source>
        <translation>Werkzeuge</translation>
    </message>
    <message>
        <source>Log</source>
        <translation>Protokoll</translation>
    </message>
</context>
<context>
    <name>Transcript</name>
    <message>
        <source>Conversation</source>
        <translation>Unterhaltung</translation>
    </message>
    <message>
        <source>Jump to latest</source>
        <translation>Zum Neuesten</translation>
    </message>
    <message>
        <source>Scroll to the end and stay there</source>
        <translation>Ans Ende scrollen und dort bleiben</translation>
    </message>
</context>
<context>
    <name>TransferController</name>
    <message numerus="yes">
        <source>%Ln chats exported to {name}.</source>
        <translation>
            <numerusform>%Ln Chat nach {name} exportiert.</numerusform>
            <numerusform>%Ln Chats nach {name} exportiert.</numerusform>
        </translation>
    </message>
    <message>
        <source>Paceline chats</source>
        <translation>Paceline-Chats</translation>
    </message>
    <message>
        <source>Another import or export is still running.</source>
        <translation>Ein anderer Import oder Export läuft noch.</translation>
    </message>
</context>
<context>
    <name>UndoBar</name>
    <message>
        <source>Undo</source>
        <translation>Rückgängig</translation>
    </message>
</context>
<context>
    <name>UserCard</name>
    <message>
        <source>You</source>
        <translation>Sie</translation>
    </message>
    <message>
        <source>Your message</source>
        <translation>Ihre Nachricht</translation>
    </message>
    <message>
        <source>Copy message</source>
        <translation>Nachricht kopieren</translation>
    </message>
    <message>
        <source>Edit message</source>
        <translation>Nachricht bearbeiten</translation>
    </message>
</context>
<context>
    <name>VersionSwitch</name>
    <message>
        <source>Previous version (Alt+Left)</source>
        <translation>Vorige Fassung (Alt+Links)</translation>
    </message>
    <message>
        <source>Next version (Alt+Right)</source>
        <translation>Nächste Fassung (Alt+Rechts)</translation>
    </message>
    <message>
        <source>{number} of {total}</source>
        <translation>{number} von {total}</translation>
    </message>
    <message>
        <source>Version {number} of {total}</source>
        <translation>Fassung {number} von {total}</translation>
    </message>
</context>
<context>
    <name>WelcomePage</name>
    <message>
        <source>Quick demo</source>
        <translation>Schnelle Demo</translation>
    </message>
    <message>
        <source>I have a GGUF file…</source>
        <translation>Ich habe eine GGUF-Datei …</translation>
    </message>
    <message>
        <source>A small real model</source>
        <translation>Ein kleines echtes Modell</translation>
    </message>
    <message>
        <source>Skip</source>
        <translation>Überspringen</translation>
    </message>
    <message>
        <source>Welcome to Paceline</source>
        <translation>Willkommen bei Paceline</translation>
    </message>
    <message>
        <source>Choose a model to chat with. A small model drafts, the large one checks every word: the same answers, faster.</source>
        <translation>Wählen Sie ein Modell zum Chatten. Ein kleines Modell entwirft, das große prüft jedes Wort: dieselben Antworten, nur schneller.</translation>
    </message>
    <message>
        <source>No download needed</source>
        <translation>Ohne Download</translation>
    </message>
    <message>
        <source>Welcome</source>
        <translation>Willkommen</translation>
    </message>
    <message numerus="yes">
        <source>Show all %n</source>
        <translation>
            <numerusform>Dieses eine zeigen</numerusform>
            <numerusform>Alle %n zeigen</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Show all %n models found here</source>
        <translation>
            <numerusform>Das eine gefundene Modell zeigen</numerusform>
            <numerusform>Alle %n gefundenen Modelle zeigen</numerusform>
        </translation>
    </message>
    <message>
        <source>Already on this computer</source>
        <translation>Schon auf diesem Rechner</translation>
    </message>
</context>
<context>
    <name>WindowDialogs</name>
    <message>
        <source>The Server page has the address and the key for programs, and the models.</source>
        <translation>Die Seite „Server“ hat Adresse und Schlüssel für Programme, und die Modelle.</translation>
    </message>
</context>
<context>
    <name>Words</name>
    <message numerus="yes">
        <source>%n days ago</source>
        <translation>
            <numerusform>vor %n Tag</numerusform>
            <numerusform>vor %n Tagen</numerusform>
        </translation>
    </message>
    <message>
        <source>Fits</source>
        <translation>Passt</translation>
    </message>
    <message>
        <source>Draft heads inside: next-token layers (MTP) in the model&apos;s own file</source>
        <translation>Entwurfsköpfe in der Datei: MTP-Schichten des Modells selbst</translation>
    </message>
    <message>
        <source>Tight</source>
        <translation>Knapp</translation>
    </message>
    <message>
        <source>Too large</source>
        <translation>Zu groß</translation>
    </message>
    <message>
        <source>Fit unknown</source>
        <translation>Platzbedarf unbekannt</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>Modell</translation>
    </message>
    <message>
        <source>Draft model</source>
        <translation>Entwurfsmodell</translation>
    </message>
    <message>
        <source>Image projector (mmproj)</source>
        <translation>Bildprojektor (mmproj)</translation>
    </message>
    <message>
        <source>Lets a model see pictures. It is not a model itself and cannot chat.</source>
        <translation>Lässt ein Modell Bilder sehen. Es ist kein eigenes Modell und kann nicht chatten.</translation>
    </message>
    <message>
        <source>Next-token heads (MTP)</source>
        <translation>MTP-Köpfe</translation>
    </message>
    <message>
        <source>EAGLE head</source>
        <translation>EAGLE-Kopf</translation>
    </message>
    <message>
        <source>A draft head that reads the target&apos;s inner state. It cannot be used on its own.</source>
        <translation>Ein Entwurfskopf, der den inneren Zustand des Zielmodells liest. Allein ist er nicht verwendbar.</translation>
    </message>
    <message>
        <source>A draft head that proposes a block at once. It cannot be used on its own.</source>
        <translation>Ein Entwurfskopf, der einen ganzen Block vorschlägt. Allein ist er nicht verwendbar.</translation>
    </message>
    <message>
        <source>Quantization data (imatrix)</source>
        <translation>Quantisierungsdaten (imatrix)</translation>
    </message>
    <message>
        <source>Vocabulary only</source>
        <translation>Nur Vokabular</translation>
    </message>
    <message>
        <source>Adapter (LoRA)</source>
        <translation>Adapter (LoRA)</translation>
    </message>
    <message>
        <source>A model that can answer.</source>
        <translation>Ein Modell, das antworten kann.</translation>
    </message>
    <message>
        <source>A small model made to draft for a large one. Use it as a draft, not for chatting.</source>
        <translation>Ein kleines Modell, das für ein großes entwirft. Verwenden Sie es als Entwurfsmodell, nicht zum Chatten.</translation>
    </message>
    <message>
        <source>Extra layers that propose several tokens at once. They belong to one model and cannot chat.</source>
        <translation>Zusätzliche Schichten, die mehrere Token auf einmal vorschlagen. Sie gehören zu einem Modell und können nicht chatten.</translation>
    </message>
    <message>
        <source>Measurements used when a model is quantized. Not for chatting.</source>
        <translation>Messwerte, die beim Quantisieren eines Modells gebraucht werden. Nicht zum Chatten.</translation>
    </message>
    <message>
        <source>A vocabulary without weights. Not for chatting.</source>
        <translation>Ein Vokabular ohne Gewichte. Nicht zum Chatten.</translation>
    </message>
    <message>
        <source>A change to another model&apos;s weights. It cannot be used on its own.</source>
        <translation>Eine Änderung an den Gewichten eines anderen Modells. Allein nicht verwendbar.</translation>
    </message>
    <message>
        <source>A small model drafts for it</source>
        <translation>Ein kleines Modell entwirft</translation>
    </message>
    <message>
        <source>DFlash or DSpark head</source>
        <translation>DFlash- oder DSpark-Kopf</translation>
    </message>
    <message>
        <source>A head in a file of its own (MTP, EAGLE-3, DFlash or DSpark)</source>
        <translation>Ein Kopf in einer eigenen Datei (MTP, EAGLE-3, DFlash oder DSpark)</translation>
    </message>
    <message>
        <source>Text that repeats is drafted; no second model is needed</source>
        <translation>Text, der sich wiederholt, wird entworfen; ein zweites Modell ist nicht nötig</translation>
    </message>
    <message>
        <source>The draft matches</source>
        <translation>Das Entwurfsmodell passt</translation>
    </message>
    <message>
        <source>The draft can be used</source>
        <translation>Das Entwurfsmodell ist verwendbar</translation>
    </message>
    <message>
        <source>The draft does not match</source>
        <translation>Das Entwurfsmodell passt nicht</translation>
    </message>
    <message>
        <source>Checking the vocabularies</source>
        <translation>Die Vokabulare werden geprüft</translation>
    </message>
    <message>
        <source>Not checked yet</source>
        <translation>Noch nicht geprüft</translation>
    </message>
    <message>
        <source>Waiting</source>
        <translation>Wartet</translation>
    </message>
    <message>
        <source>Downloading</source>
        <translation>Wird heruntergeladen</translation>
    </message>
    <message>
        <source>Checking the file</source>
        <translation>Die Datei wird geprüft</translation>
    </message>
    <message>
        <source>Paused</source>
        <translation>Angehalten</translation>
    </message>
    <message>
        <source>Stopped</source>
        <translation>Stehen geblieben</translation>
    </message>
    <message>
        <source>Complete</source>
        <translation>Vollständig</translation>
    </message>
    <message>
        <source>time left unknown</source>
        <translation>Restzeit unbekannt</translation>
    </message>
    <message>
        <source>about {speed} tokens per second</source>
        <translation>etwa {speed} Token pro Sekunde</translation>
    </message>
    <message>
        <source>about {speed} tokens per second, and it thinks first</source>
        <translation>etwa {speed} Token pro Sekunde, und es denkt zuerst nach</translation>
    </message>
    <message>
        <source>{seconds} s left</source>
        <translation>noch {seconds} s</translation>
    </message>
    <message>
        <source>{minutes} min left</source>
        <translation>noch {minutes} min</translation>
    </message>
    <message>
        <source>{hours} h {rest} min left</source>
        <translation>noch {hours} h {rest} min</translation>
    </message>
    <message>
        <source>today</source>
        <translation>heute</translation>
    </message>
    <message>
        <source>yesterday</source>
        <translation>gestern</translation>
    </message>
    <message>
        <source>d MMM yyyy</source>
        <translation>d. MMM yyyy</translation>
    </message>
    <message>
        <source>never used</source>
        <translation>nie verwendet</translation>
    </message>
    <message>
        <source>used {day}</source>
        <translation>verwendet {day}</translation>
    </message>
</context>
</TS>
